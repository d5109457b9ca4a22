// Functions on the dimensions that a job states for a tensor. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "millrace/tensor.hpp"

namespace millrace::tensor {

// The product of the dimensions, 1 for a scalar, and that times size_of(type). SIZE_MAX where the
// true number does not fit, so that comparing it with a buffer's size is safe.
// Requirement: at most kMaxRank dimensions.
size_t elements_of(const TensorShape& shape) noexcept;
size_t bytes_of(const TensorShape& shape, DataType type) noexcept;

// Whether a tensor of this shape is one that `described` allows, whose open dimensions
// (kOpenDimension) may have any size; a shape never has one itself. False for a rank beyond
// kMaxRank.
bool fits(const TensorShape& shape, const std::vector<uint32_t>& described) noexcept;
// Whether it has a rank that a shape can have, and no open dimension.
bool is_complete(const TensorShape& shape) noexcept;

// Requirement: at most kMaxRank dimensions.
TensorShape shape_of(const std::vector<uint32_t>& dimensions) noexcept;

// "[1,3,?,224]", for messages; of no dimensions "[]".
std::string to_string(const std::vector<uint32_t>& dimensions);
std::string to_string(const TensorShape& shape);

}  // namespace millrace::tensor
