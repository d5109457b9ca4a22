// ONNX nodes as fallback operators of the graph (src/fallback).
#pragma once

#include <onnx/onnx_pb.h>

#include "base/status.h"
#include "graph/operators.h"

namespace millrace::compiler {

// Whether there is a fallback operator for nodes of this type, in this version of their domain.
bool has_fallback(const ::onnx::NodeProto& node, int opset);

// The operator with the node's attributes. kUnsupported for an attribute of a kind that no fallback
// operator has. Requirement: has_fallback().
Result<graph::Fallback> read_fallback(const ::onnx::NodeProto& node, int opset);

}  // namespace millrace::compiler
