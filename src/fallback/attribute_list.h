// Tensors that are attributes, as fallbacks carry them.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::fallback {

// The elements of a constant as a list: of integers, or of floating point numbers. kUnsupported:
// elements that such a list cannot hold.
Result<graph::Attribute::Value> attribute_list(const graph::Value& tensor);

}  // namespace millrace::fallback
