// How each operator of the graph is written in operators of the standard.
//
// A writer adds the nodes for one node of the graph and returns the name of what they compute,
// which is the output of the last of them and read by nothing else; only a Requantise to integers
// may give the name of its operand. kUnsupported says what operators of the standard cannot
// express.
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
// The function of numbers that are in the model; returns them as they are for kIdentity.
std::string write_function(ProtoModel& model, const graph::Activation& function, std::string x);
// The same for a reduction.
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

// write_fallback.cpp. Gives all outputs the names of the graph's values, and returns none.
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Fallback& op);

}  // namespace millrace::compiler
