// Operators of com.microsoft whose images may be channels-last (NHWC), which ONNX Runtime's
// optimiser prefers. They become channels-first operators between two Transposes; the pass
// sink_transposes may move or cancel these.
#pragma once

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// Whether the attribute channels_last is set.
bool has_channels_last(NodeImport& node);

// Transposes [N, spatial..., C] to [N, C, spatial...], and back. kInvalidArgument if `x` has fewer
// than three dimensions.
Result<ValueId> channels_to_front(NodeImport& node, ValueId x);
Result<ValueId> channels_to_back(NodeImport& node, ValueId x);

// Applies `function` to the image `x` as channels-first, and returns the result in the order of
// `x`.
template <class Function>
Result<ValueId> with_channels_first(NodeImport& node, ValueId x, Function function) {
  if (!has_channels_last(node)) return function(x);
  MILLRACE_ASSIGN_OR_RETURN(x, channels_to_front(node, x));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, function(x));
  return channels_to_back(node, y);
}

}  // namespace millrace::lowering
