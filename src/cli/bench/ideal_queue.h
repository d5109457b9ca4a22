// The best that a server can do without knowing the future: one queue, first come, first served, by
// several equal servers that never idle while a request waits, and nothing that costs time but the
// service itself. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace millrace::cli {

// How long each request is in that queue and in service, in nanoseconds. `arrivals_ns` ascends;
// request i needs `services_ns[i]` of a server. Requirements: as many of one as of the other, and
// at least one server.
std::vector<int64_t> ideal_latencies_ns(std::span<const int64_t> arrivals_ns,
                                        std::span<const int64_t> services_ns, uint32_t servers);

}  // namespace millrace::cli
