// ONNX nodes as fallback operators of the graph (src/fallback).
#pragma once

#include <string>

#include "base/status.h"
#include "graph/network/network.h"
#include "graph/operators.h"

namespace millrace::lowering {

// The type of a node as graph::Fallback and graph::Origin have it.
std::string fallback_name(const network::Node& node);

// Whether there is a fallback operator for nodes of this type, in this version of their domain.
bool has_fallback(const network::Node& node, int opset);

// The operator with the node's attributes. kUnsupported for an attribute of a kind that no fallback
// operator has. Requirement: has_fallback().
Result<graph::Fallback> read_fallback(const network::Node& node, int opset);

}  // namespace millrace::lowering
