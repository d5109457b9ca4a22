// A copy between plain tensors that looks up the source of each index for each dimension: for
// slices with steps, padding, broadcasts and transpositions of integers.
#pragma once

#include <cstdint>
#include <vector>

#include "device/cpu/builder/builder.h"

namespace millrace::device::cpu::kernels {

// For each output dimension, for each index along it: the offset in the input, in elements, or
// kFill if the output gets the fill value.
using CopyMap = std::vector<std::vector<int64_t>>;
inline constexpr int64_t kFill = INT64_MIN;

// Returns the strides of a plain tensor, in elements.
Dims plain_strides(const Dims& dims);

// Returns the offsets of `count` indices from `begin` on, `step` apart, in a dimension with that
// stride.
std::vector<int64_t> index_range(int64_t begin, int64_t count, int64_t step, int64_t stride);

CopyMap transposed(const Dims& input, const Dims& permutation);

// Adds a copy of the value x to new memory in C order, with the dimensions of the map, and returns
// that. `fill` is converted to the element type.
Result<Operand> add_mapped_copy(Builder& builder, const char* operation, graph::ValueId x,
                                CopyMap map, float fill = 0);

// Does the same, and makes the memory the value y.
Status add_mapped_copy(Builder& builder, const char* operation, graph::ValueId x, graph::ValueId y,
                       CopyMap map, float fill = 0);

}  // namespace millrace::device::cpu::kernels
