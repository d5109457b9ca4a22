// Shape functions that many operators share.
#pragma once

#include "fallback/node_view.h"

namespace millrace::fallback {

// Output 0 has the type and dimensions of input 0.
Status same_as_first(Inference& node);
// Output 0 is the broadcast of all inputs, which have one type.
Status broadcast_of_all(Inference& node);
// The same, of BOOLEANs.
Status booleans_of_broadcast(Inference& node);

// kInvalidArgument unless all inputs that are there, from `first` on, have one type.
Status check_one_type(const Inference& node, size_t first = 0);
// The broadcast of the dimensions of all inputs.
Result<Dims> broadcast_dims(const Inference& node);

// The type that a graph has for the number of an element type in an ONNX file; an attribute names
// such numbers. kUnsupported for types that tensors of a graph do not have.
Result<DataType> type_of_number(int64_t number);

inline Dims to_dims(std::span<const int64_t> dims) {
  return Dims(dims.begin(), dims.end());
}

}  // namespace millrace::fallback
