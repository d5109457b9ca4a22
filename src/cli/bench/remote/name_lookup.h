// Finds the addresses of a host within a time limit: the system's own limits may be minutes, and
// its calls cannot be ended. Thread-safe.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

// Asks the system for the addresses of a host and a port. kNotFound, with the reason.
Result<Endpoints> look_up(const std::string& host, const std::string& port);

// Calls the function on a thread of its own and returns its result. kDeadlineExceeded if that takes
// longer; the thread then goes on by itself, so the function must own what it uses.
Result<Endpoints> within(std::chrono::milliseconds limit,
                         std::function<Result<Endpoints>()> function);

}  // namespace millrace::cli
