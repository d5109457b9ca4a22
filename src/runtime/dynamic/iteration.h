// What the operators with a repeated subgraph have in common.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/network/network.h"
#include "runtime/dynamic/run_value.h"

namespace millrace::runtime {

// The attribute of the node that holds its subgraph; kInvalidArgument where there is none.
Result<const network::Network*> require_subgraph(const network::Node& node, std::string_view name);
// Null where the node has no such attribute.
const graph::Dims* integers_of(const network::Node& node, std::string_view name);
Result<int64_t> integer_of(const network::Node& node, std::string_view name);

// kInvalidArgument unless the subgraph takes and gives as many values as the operator has for it.
Status check_counts(const network::Network& body, size_t inputs, size_t least_outputs);

// An output that grows by one part per iteration. Without an iteration it is empty, of the type and
// shape that the subgraph states for a part, where open dimensions count as 0.
Result<RunValue> join_iterations(std::vector<RunValue> parts, size_t axis,
                                 const network::Output& declared);

}  // namespace millrace::runtime
