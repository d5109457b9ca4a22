// Element types by the numbers that the standard gives them (TensorProto.DataType).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "tensor/data_type.h"

namespace millrace::lowering {

// How files store elements of a type, and how a graph holds them.
struct ElementType {
  std::string_view name;    // the standard's
  size_t file_bytes;        // per element
  tensor::DataType stored;  // 16-bit floats are widened to FLOAT32
};

// kUnsupported for types that a graph does not have (strings, complex numbers and the like).
Result<ElementType> element_type(int64_t number);

// ElementType::stored: the type in which a graph holds what the model types as `number`.
Result<tensor::DataType> stored_type(int64_t number);

// The element type that callers see at a graph input or output; no widening, no doubles.
Result<tensor::DataType> boundary_type(int64_t number);

}  // namespace millrace::lowering
