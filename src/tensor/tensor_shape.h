// Functions on the dimensions that a job states for a tensor (TensorShape), which may differ from
// job to job where a model leaves dimensions open. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "millrace/tensor.hpp"

namespace millrace::tensor {

// Return the product of the dimensions (1 for a scalar), and that times size_of(type). Both
// saturate to SIZE_MAX, so comparing the result with the size of a buffer is safe.
// Requirement: at most kMaxRank dimensions.
size_t elements_of(const TensorShape& shape) noexcept;
size_t bytes_of(const TensorShape& shape, DataType type) noexcept;

// Whether `shape` is complete and matches `described`: it has the same rank, and each of its
// dimensions equals the described one unless that is open (kOpenDimension).
bool fits(const TensorShape& shape, const std::vector<uint32_t>& described) noexcept;
// Whether the rank is at most kMaxRank and no dimension is open.
bool is_complete(const TensorShape& shape) noexcept;

// Requirement: at most kMaxRank dimensions.
TensorShape shape_of(const std::vector<uint32_t>& dimensions) noexcept;

// Format a shape for messages, for example "[1,3,?,224]"; "?" is an open dimension. A scalar is
// "[]".
std::string to_string(const std::vector<uint32_t>& dimensions);
std::string to_string(const TensorShape& shape);

}  // namespace millrace::tensor
