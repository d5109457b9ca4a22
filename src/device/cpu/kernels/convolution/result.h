// Functions that the implementations of Conv have in common: where the result lies, and the
// functions that follow the convolution itself.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/convolution/primitive.h"

namespace millrace::device::cpu::kernels {

// The memory of the result: with a residual operand, to which the step then adds, that of the
// residual, or a copy of it.
Result<Operand> make_result(Builder& builder, const graph::Node& node, const Desc& desc);

// Adds steps for the PRelu and the activation of the Conv, as far as its own step, which wrote `y`,
// has not `done` them.
Status add_functions(Builder& builder, const graph::Node& node, const Convolution& convolution,
                     const FusedFunctions& done, const Operand& y);

}  // namespace millrace::device::cpu::kernels
