// Finds NaN, infinities and subnormal values in the elements of a tensor. Thread-safe.
//
// The elements are contiguous and may have any alignment. The types are FLOAT32, FLOAT64, FLOAT16
// and BFLOAT16; elements of other types have no such values.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tensor/data_type.h"

namespace millrace::tensor {

// Returns the index of the first element that is NaN.
std::optional<size_t> find_nan(DataType type, std::span<const std::byte> elements) noexcept;

// The elements of each kind: how many there are, and the index of the first.
struct SpecialValues {
  struct Found {
    size_t count = 0;
    size_t first = 0;
  };
  Found nans, infinities, subnormals;
};
SpecialValues find_special_values(DataType type, std::span<const std::byte> elements) noexcept;

}  // namespace millrace::tensor
