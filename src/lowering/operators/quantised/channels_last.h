// Operators of com.microsoft whose images may have their channels in the last dimension, which ONNX
// Runtime's optimiser prefers: they become those with channels first, between Transposes.
#pragma once

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// Whether the attribute channels_last says so.
bool has_channels_last(NodeImport& node);

// `x` with the last dimension behind the first, and back. kInvalidArgument where it has less than
// three.
Result<ValueId> channels_to_front(NodeImport& node, ValueId x);
Result<ValueId> channels_to_back(NodeImport& node, ValueId x);

// Applies `function` to the image `x` with channels first; returns the result in the node's order.
template <class Function>
Result<ValueId> with_channels_first(NodeImport& node, ValueId x, Function function) {
  if (!has_channels_last(node)) return function(x);
  MILLRACE_ASSIGN_OR_RETURN(x, channels_to_front(node, x));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, function(x));
  return channels_to_back(node, y);
}

}  // namespace millrace::lowering
