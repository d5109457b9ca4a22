// Connects the caller's tensors with the values of a program: the views in which a boundary tensor
// is accepted, and the reorders from each view to the layout that the program wants. A view that
// already has that layout is used as it is.
#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "device/cpu/steps/step.h"
#include "device/device.h"
#include "graph/compiled_model.h"

namespace millrace::device::cpu {

class Builder;

// See Program::accepts(). If a tensor also has an HW view, its CPU view is accepted where both
// views give the same bits: both are FLOAT32, or the two are the same. It is also accepted where
// the HW view is requantised, since that form would lose precision that the CPU view has.
bool accepts_view(const graph::Boundary& boundary, View view);

// Adds the steps that bring a graph input into `wanted`, whose layout every accepted view gets.
Result<Operand> bind_input(Builder& builder, uint32_t index, const Desc& wanted);

// Returns the layout in which the HW view of a boundary holds the integers of `quantised`. Returns
// nothing if the view holds something else, or the boundary is accepted in another view, too.
std::optional<Desc> desc_of_bytes(const Builder& builder, const graph::Boundary& boundary,
                                  graph::ValueId quantised);

// Returns the integers that a graph input holds. `desc` is desc_of_bytes().
Operand bind_bytes(Builder& builder, uint32_t index, const Desc& desc);

// Returns whether callers give or take the integers of `quantised` through a requantised HW view by
// steps that need no floating point copy of the tensor.
bool can_requantise(const Builder& builder, const graph::Boundary& boundary,
                    graph::ValueId quantised);

// Adds the steps that make the integers of `quantised` from both views of a graph input.
// Requirement: can_requantise().
Status bind_requantised(Builder& builder, uint32_t index, graph::ValueId quantised);

// Adds the steps that bring a graph output to the caller.
Status deliver_output(Builder& builder, uint32_t index);

}  // namespace millrace::device::cpu
