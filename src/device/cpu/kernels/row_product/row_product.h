// Products of one row with constant weights (loops.h) as steps of a program.
#pragma once

#include <cstddef>
#include <optional>

#include "device/cpu/builder/builder.h"

namespace millrace::device::cpu::kernels {

struct RowOperands {
  Operand row;
  Operand weights;  // in the layout of which panel_size() is known
  std::optional<Operand> bias;
};

// Returns the elements of a panel of weights [columns, depth] as loops.h reads them; nothing if
// `weights` is another type or layout, or if the matrix is too small for the loops to be worth it.
std::optional<size_t> panel_size(const Desc& weights);

// Adds the step to = row weights + bias. Requirement: panel_size(operands.weights.desc).
void add_row_product(Builder& builder, const RowOperands& operands, const Operand& to);

}  // namespace millrace::device::cpu::kernels
