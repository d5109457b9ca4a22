// Common parts of the operators with a repeated subgraph.
#pragma once

#include <vector>

#include "base/status.h"
#include "graph/network/network.h"
#include "runtime/dynamic/run_value.h"

namespace millrace::runtime {

// An output that grows by one part per iteration. Without an iteration it is empty, of the type and
// shape that the subgraph states for a part, where open dimensions count as 0.
Result<RunValue> join_iterations(std::vector<RunValue> parts, size_t axis,
                                 const network::Output& declared);

}  // namespace millrace::runtime
