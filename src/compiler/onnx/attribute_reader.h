// Reads the attributes of ONNX nodes into those of a network. Thread-safe.
#pragma once

#include <onnx/onnx_pb.h>

#include "base/status.h"
#include "graph/network/network.h"

namespace millrace::compiler {

// Returns the value of an attribute other than a graph; moves the bytes of a tensor out of it. For
// a kind that no operator supports (sparse tensors, types, strings in tensors, tensors in other
// files) it returns a tensor without elements whose name is the reason: this is an error only if an
// operator needs the attribute. kCorruptData: a tensor is inconsistent.
Result<network::Attribute::Value> read_attribute(::onnx::AttributeProto& attribute);

}  // namespace millrace::compiler
