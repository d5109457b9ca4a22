// Ranks that are threads of one process: a transport through memory, for tests and for trying a
// model of several ranks without starting processes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ranks/transport.h"

namespace millrace::ranks {

// The transports of `ranks` ranks, by rank. They may be used and destroyed on any threads. To the
// others, a rank whose transport is destroyed has ended.
std::vector<std::unique_ptr<Transport>> make_local_transports(uint32_t ranks);

}  // namespace millrace::ranks
