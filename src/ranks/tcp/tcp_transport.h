// Sends messages between processes over TCP. One thread waits for all connections of a rank
// (epoll) and reads. The sending thread writes a message itself, as far as the system takes it at
// once.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "ranks/rendezvous/meeting.h"
#include "ranks/transport.h"

namespace millrace::ranks {

// Meets the other ranks as the options say, and connects to all of them. Blocks until it has, or
// until the deadline, with a failure that names who is missing.
Result<std::unique_ptr<Transport>> connect_tcp_transport(const MeetingOptions& options);

}  // namespace millrace::ranks
