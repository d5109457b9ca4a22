// Concatenation of several tensors into one, whatever their elements are.
#pragma once

#include <vector>

#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/kernels.h"

namespace millrace::device::cpu::kernels {

std::vector<graph::ValueId> non_empty_inputs(const Builder& builder, const Node& node);

// Joins the inputs, which are at `locations` and have elements of `type`, along `axis`. Returns
// memory for y; the caller makes it the result. If the layout allows, memory of inputs that belongs
// to the context becomes a part of it.
Operand join(Builder& builder, graph::ValueId y, const std::vector<graph::ValueId>& inputs,
             const std::vector<Operand>& locations, size_t axis, ElementType type);

}  // namespace millrace::device::cpu::kernels
