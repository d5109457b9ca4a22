// join_iterations(): joins the scan outputs of Loop and Scan.
#pragma once

#include <vector>

#include "base/status.h"
#include "graph/network/network.h"
#include "runtime/dynamic/run_value.h"

namespace millrace::runtime {

// Returns an output that collects one part per iteration, stacked along a new dimension `axis`. If
// there was no iteration, it has no elements, and the type and shape that the subgraph declares for
// a part, with 0 for open dimensions.
Result<RunValue> join_iterations(std::vector<RunValue> parts, size_t axis,
                                 const network::Output& declared);

}  // namespace millrace::runtime
