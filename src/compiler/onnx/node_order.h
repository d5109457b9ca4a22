// The order in which the nodes of a model can be imported.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "base/status.h"

namespace millrace::compiler {

// Indices of all nodes, each after those that make its inputs, otherwise in the model's order.
// `given` holds the names of inputs and initializers. kInvalidArgument names the node where a value
// is made twice, no node makes an input, or nodes depend on each other in a cycle.
Result<std::vector<int>> node_order(const ::onnx::GraphProto& graph,
                                    const std::unordered_set<std::string>& given);

}  // namespace millrace::compiler
