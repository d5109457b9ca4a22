// Code that the implementations of Conv share: for the memory of the result, and for the functions
// that follow the convolution itself.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/convolution/primitive.h"

namespace millrace::device::cpu::kernels {

// Returns the memory of the result. With a residual operand, that is the memory of the residual or
// a copy of it, to which the step adds.
Result<Operand> make_result(Builder& builder, const graph::Node& node, const Desc& desc);

// Adds steps for the PRelu and the activation of the Conv, unless the step that wrote `y` has
// `done` them.
Status add_functions(Builder& builder, const graph::Node& node, const Convolution& convolution,
                     const FusedFunctions& done, const Operand& y);

}  // namespace millrace::device::cpu::kernels
