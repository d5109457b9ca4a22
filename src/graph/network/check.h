// The requirements of a Network. The code that lowers or runs one relies on them without checking
// again. Thread-safe.
#pragma once

#include "base/status.h"
#include "graph/network/network.h"

namespace millrace::network {

// How deep subgraphs may nest: deeper than exporters write, and shallow enough for recursion.
inline constexpr size_t kMaxSubgraphDepth = 16;

// Checks a model with all its subgraphs: names are UTF-8 without NUL; each value is made once in
// its network, and before its use; captures include everything that the subgraph reads from the
// networks around it, and exist there; constants have the length of type and shape; dimensions are
// open or from 0 to the limits of graph::check_shape(); opsets count from 1, and are those of the
// model in subgraphs; attributes of a node have different names. What operators require of operands
// and attributes is left to the lowering. kInvalidArgument names node or value and the reason. The
// time is proportional to the size of the network times the depth of its subgraphs.
Status check(const Network& model);

}  // namespace millrace::network
