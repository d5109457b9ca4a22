// Writers: one overload per operator of the graph, which expresses it in operators of the standard.
//
// A writer adds the nodes for one node of the graph and returns the name of the result. This is the
// output of the last node that it added, and nothing else reads it; only a Requantise to integers
// may return the name of its operand. kUnsupported: operators of the standard cannot express the
// node.
#pragma once

#include <string>

#include "base/status.h"
#include "compiler/export/proto_model.h"
#include "graph/graph.h"

namespace millrace::compiler {

// write_layers.cpp
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Conv& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Pool& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::GlobalPool& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::MatMul& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node,
                          const graph::BatchNormalization& op);

// write_functions.cpp
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Unary& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Binary& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Softmax& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Reduce& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Cast& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Requantise& op);
// Adds the nodes of a function of the FLOAT32 tensor `x`, and returns the name of the result; `x`
// itself for kIdentity.
std::string write_function(ProtoModel& model, const graph::Activation& function, std::string x);
// Adds the node of a reduction of the tensor `x`, and returns the name of the result.
std::string write_reduction(ProtoModel& model, const graph::Reduce& op, const std::string& x);

// write_movement.cpp
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Concat& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Reshape& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Transpose& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Slice& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Gather& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Pad& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Resize& op);
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Expand& op);

// write_fallback.cpp. The outputs get the names of the values of the graph, and the returned name
// is empty.
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Fallback& op);

}  // namespace millrace::compiler
