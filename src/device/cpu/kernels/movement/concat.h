// Concatenation of several tensors into one, whatever their elements are.
#pragma once

#include <vector>

#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/kernels.h"

namespace millrace::device::cpu::kernels {

std::vector<graph::ValueId> non_empty_inputs(const Builder& builder, const Node& node);

// Joins the inputs, which lie at `locations` and have elements of `type`, along `axis`, giving
// memory for y, whose result it is the caller's to make it. Inputs whose memory belongs to the
// program move into their part of it, where the layout allows.
Operand join(Builder& builder, graph::ValueId y, const std::vector<graph::ValueId>& inputs,
             const std::vector<Operand>& locations, size_t axis, ElementType type);

}  // namespace millrace::device::cpu::kernels
