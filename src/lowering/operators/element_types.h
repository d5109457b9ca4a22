// Element types by their numbers in ONNX files (TensorProto.DataType): their size in files, and the
// type in which a graph holds them. Pure functions: thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "tensor/data_type.h"

namespace millrace::lowering {

// How files store elements of a type, and how a graph holds them.
struct ElementType {
  std::string_view name;    // in the standard
  size_t file_bytes;        // per element
  tensor::DataType stored;  // in a graph: FLOAT32 for 16-bit floating types
};

// kUnsupported for types that a graph does not have, such as strings and complex numbers.
Result<ElementType> element_type(int64_t number);

// The type in which a graph holds tensors of type `number` (ElementType::stored).
Result<tensor::DataType> stored_type(int64_t number);

// The element type that callers see at an input or output of the model: stored_type(), but 16-bit
// floating types are not widened.
Result<tensor::DataType> boundary_type(int64_t number);

}  // namespace millrace::lowering
