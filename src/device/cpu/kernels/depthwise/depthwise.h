// Depthwise convolutions of 3x3 taps (loops.h) as steps of a program that computes in BF16. They
// take the place of oneDNN's primitives with channels innermost.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/convolution/primitive.h"
#include "device/cpu/kernels/depthwise/loops.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/steps/stopwatch.h"

namespace millrace::device::cpu::kernels::depthwise {

// Whether the Conv can be such a step, with a constant filter and a constant bias or none.
bool can_compute(const Convolution& convolution);
// The layout of its images, and the same as Implementation has it, whose type is BF16.
Desc image_layout(const Dims& dims);
Desc layout_for(const Dims& dims, ElementType type);
// See Implementation.
uint64_t time(const Convolution& convolution, const Stopwatch& stopwatch);

// Lowers the Conv where its form has channels innermost; false, with nothing added, where there is
// no such step for it.
Result<bool> lower(Builder& builder, const Node& node, const graph::Conv& op);

}  // namespace millrace::device::cpu::kernels::depthwise
