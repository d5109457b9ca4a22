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

// Operators with weights or windows are in write_layers.cpp, functions of elements in
// write_functions.cpp, and movements in write_movement.cpp. A Fallback (write_fallback.cpp) gives
// its outputs the names of the values of the graph, and returns an empty name.
#define MILLRACE_X(Op) \
  Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Op& op);
MILLRACE_GRAPH_OPERATORS(MILLRACE_X)
#undef MILLRACE_X

// Adds the nodes of a function of the FLOAT32 tensor `x`, and returns the name of the result; `x`
// itself for kIdentity.
std::string write_function(ProtoModel& model, const graph::Activation& function, std::string x);
// Adds the node of a reduction of the tensor `x`, and returns the name of the result.
std::string write_reduction(ProtoModel& model, const graph::Reduce& op, const std::string& x);

}  // namespace millrace::compiler
