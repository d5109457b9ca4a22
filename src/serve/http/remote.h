// The name of a client by its connection. Thread-safe.
#pragma once

#include <string>

#include "serve/http/asio.h"

namespace millrace::serve {

// Returns "127.0.0.1:40000", "[::1]:40000", or "unix" for a Unix socket; empty if it has gone.
std::string remote_of(const Socket& socket);

}  // namespace millrace::serve
