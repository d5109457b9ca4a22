// Shape functions and checks that many operators share. Thread-safe.
#pragma once

#include "fallback/node_view.h"

namespace millrace::fallback {

// Gives output 0 the type and dimensions of input 0.
Status same_as_first(Inference& node);
// Gives output 0 the type of the inputs, which must agree, and the broadcast of their dimensions.
Status broadcast_of_all(Inference& node);
// Gives output 0 type BOOLEAN and the broadcast of the dimensions of all inputs, which must have
// one type.
Status booleans_of_broadcast(Inference& node);

// kInvalidArgument unless all present inputs from `first` on have one type.
Status check_one_type(const Inference& node, size_t first = 0);
// Returns the broadcast of the dimensions of all inputs.
Result<Dims> broadcast_dims(const Inference& node);

// Returns the type in which a graph holds an element type of ONNX, by its number
// (TensorProto.DataType), which attributes state. kUnsupported: no tensor of a graph can have it.
Result<DataType> type_of_number(int64_t number);

inline Dims to_dims(std::span<const int64_t> dims) {
  return Dims(dims.begin(), dims.end());
}

}  // namespace millrace::fallback
