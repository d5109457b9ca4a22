// A client that asks one request after another on one connection. Any failure is thrown as
// std::runtime_error.
#pragma once

#include <cstdint>
#include <vector>

namespace millrace::bench {

// Return how long each of the requests took, in microseconds, after some that do not count.
std::vector<double> http_times(uint16_t port, unsigned requests);
std::vector<double> grpc_times(uint16_t port, unsigned requests);

}  // namespace millrace::bench
