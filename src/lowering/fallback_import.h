// Translates ONNX nodes into fallback operators of the graph (src/fallback): the name, and the
// attributes as the newest operator set defines them.
#pragma once

#include <string>

#include "base/status.h"
#include "graph/network/network.h"
#include "graph/operators.h"

namespace millrace::lowering {

// The type of a node as graph::Fallback and graph::Origin state it: with the domain in front,
// unless that is the domain of the standard.
std::string fallback_name(const network::Node& node);

// Whether there is a fallback operator for nodes of this type, in version `opset` of their domain.
bool has_fallback(const network::Node& node, int opset);

// Returns the operator with the node's attributes. kUnsupported for an attribute of a kind that no
// fallback operator has, such as a subgraph. Requirement: has_fallback().
Result<graph::Fallback> read_fallback(const network::Node& node, int opset);

}  // namespace millrace::lowering
