// From the attributes of a model file's nodes to those of a network.
#pragma once

#include <onnx/onnx_pb.h>

#include "base/status.h"
#include "graph/network/network.h"

namespace millrace::compiler {

// The value of an attribute that holds no graph; takes over the bytes of a tensor. What no operator
// takes in (sparse tensors, types, strings in tensors, tensors in other files) is a tensor without
// elements whose name says why: it is an error only where an operator asks for it. kCorruptData for
// tensors that contradict themselves.
Result<network::Attribute::Value> read_attribute(::onnx::AttributeProto& attribute);

}  // namespace millrace::compiler
