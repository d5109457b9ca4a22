// Simulates an ideal server as a reference for measured latencies: a G/G/c queue with one waiting
// line, first come, first served, whose c equal servers never idle while a request waits, and
// without any cost besides the service times. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace millrace::cli {

// Returns the latency of each request in nanoseconds: its time in the queue and in service.
// `arrivals_ns` ascends; request i occupies a server for `services_ns[i]`. Requirement: both have
// the same size, and there is at least one server.
std::vector<int64_t> ideal_latencies_ns(std::span<const int64_t> arrivals_ns,
                                        std::span<const int64_t> services_ns, uint32_t servers);

}  // namespace millrace::cli
