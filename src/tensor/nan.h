// Finds NaN in the elements of a tensor. Thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tensor/data_type.h"

namespace millrace::tensor {

// Returns the index of the first element that is NaN; nothing if there is none, or if the type is
// not a floating-point type. The elements are contiguous and may have any alignment.
std::optional<size_t> find_nan(DataType type, std::span<const std::byte> elements) noexcept;

}  // namespace millrace::tensor
