// A transport for ranks that are threads of one process: it copies messages in memory. It serves
// tests, and running a model of several ranks without starting processes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ranks/transport.h"

namespace millrace::ranks {

// Returns the transports of `ranks` ranks, by rank. They may be used and destroyed on any threads.
// When a transport is destroyed, the other ranks see that this rank has ended.
std::vector<std::unique_ptr<Transport>> make_local_transports(uint32_t ranks);

}  // namespace millrace::ranks
