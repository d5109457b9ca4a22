// The requirements of a Network. Who lowers or runs one relies on them without checking again.
#pragma once

#include "base/status.h"
#include "graph/network/network.h"

namespace millrace::network {

// How deep subgraphs may nest; enough for what exporters write, and little enough for recursion.
inline constexpr size_t kMaxSubgraphDepth = 16;

// Checks a model with all its subgraphs: names are UTF-8 without NUL; values are made once in their
// network, and before their use; captures have at least what the subgraph reads, and exist around
// it; constants have the length of type and shape; dimensions are open or from 0 to the limits of
// graph::check_shape(); opsets count from 1, and are the model's in subgraphs; attributes of a node
// have different names. What operators ask of operands and attributes is left to the lowering.
// kInvalidArgument names node or value and the reason. Time is in proportion to the network's size,
// times the depth of its subgraphs.
Status check(const Network& model);

}  // namespace millrace::network
