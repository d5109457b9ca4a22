// The operands and results of attention: tensors of matrices, one for each entry of the batch and
// each head. Pure functions but for what they add to a builder.
#pragma once

#include <cstddef>

#include "device/cpu/builder/operands.h"

namespace millrace::device::cpu::accelerated::attention {

// A tensor of matrices and how it lies in memory, in elements.
struct Matrices {
  BufferId buffer;
  size_t offset;
  Dims strides;

  size_t row_step() const { return static_cast<size_t>(strides[strides.size() - 2]); }
  size_t element_step() const { return static_cast<size_t>(strides.back()); }
  // The offset of the matrix with that number.
  size_t offset_of(size_t matrix, const Dims& leading) const {
    size_t at = offset;
    for (size_t i = leading.size(); i-- > 0;) {
      const auto dim = static_cast<size_t>(leading[i]);
      at += matrix % dim * static_cast<size_t>(strides[i]);
      matrix /= dim;
    }
    return at;
  }
};

// Requirement: the operand has strides_of().
Matrices matrices_of(const Operand& operand);
// Returns the value in FP32, in any order of its dimensions that keeps rows contiguous.
Result<Matrices> matrices_of(Builder& builder, graph::ValueId id);

// Returns the layout of the result that the Transpose which follows reads, so that this moves
// nothing, if it keeps the rows whole; else a plain one.
Desc result_form(const Builder& builder, graph::ValueId result);

}  // namespace millrace::device::cpu::accelerated::attention
