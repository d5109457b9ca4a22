// Finding a NaN in the elements of a tensor.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tensor/data_type.h"

namespace millrace::tensor {

// The index of the first element that is a NaN; none for a type that has no NaN. The elements lie
// one after another and need no alignment.
std::optional<size_t> find_nan(DataType type, std::span<const std::byte> elements) noexcept;

}  // namespace millrace::tensor
