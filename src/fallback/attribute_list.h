// Converts attributes that are tensors in ONNX to the lists that fallback operators have.
// Thread-safe.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::fallback {

// Returns the elements of a constant as a list of integers or of floats. kUnsupported: elements
// that such a list cannot hold.
Result<graph::Attribute::Value> attribute_list(const graph::Value& tensor);

}  // namespace millrace::fallback
