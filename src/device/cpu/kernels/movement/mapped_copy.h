// A copy in which every index of the output is looked up per dimension: slices with steps, padding,
// broadcasts, transpositions of integers and the like, between plain forms.
#pragma once

#include <cstdint>
#include <vector>

#include "device/cpu/builder/builder.h"

namespace millrace::device::cpu::kernels {

// For each output dimension, for each index along it, how far that moves in the input, in elements;
// kFill where the output gets the fill value instead.
using CopyMap = std::vector<std::vector<int64_t>>;
inline constexpr int64_t kFill = INT64_MIN;

// Elements between neighbours along each dimension of a plain tensor.
Dims plain_strides(const Dims& dims);

// `count` indices from `begin` on, `step` apart, over a dimension with this stride.
std::vector<int64_t> index_range(int64_t begin, int64_t count, int64_t step, int64_t stride);

CopyMap transposed(const Dims& input, const Dims& permutation);

// Copies the value x, giving plain memory of the dimensions of the map for the caller to use.
// `fill` is converted to the element type.
Result<Operand> add_mapped_copy(Builder& builder, const char* operation, graph::ValueId x,
                                CopyMap map, float fill = 0);

// The same, giving the value y.
Status add_mapped_copy(Builder& builder, const char* operation, graph::ValueId x, graph::ValueId y,
                       CopyMap map, float fill = 0);

}  // namespace millrace::device::cpu::kernels
