// The elements of a tensor in the fields of InferTensorContents, to raw bytes and back.
// Thread-safe.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "millrace/tensor.hpp"
#include "open_inference.pb.h"

namespace millrace::serve {

// The number of elements that the field for `type` holds. kInvalidArgument if another field has
// elements, and for types that have no field; the message is a predicate for the tensor's name.
Result<size_t> count_elements(const inference::InferTensorContents& contents, DataType type);

// Writes the elements, which count_elements() has counted, to `to`. kInvalidArgument for a number
// that the type does not have.
Status write_elements(const inference::InferTensorContents& contents, DataType type, std::byte* to);

// Adds the elements to the field for `type`, if there is one.
void add_elements(std::span<const std::byte> bytes, DataType type,
                  inference::InferTensorContents& contents);

}  // namespace millrace::serve
