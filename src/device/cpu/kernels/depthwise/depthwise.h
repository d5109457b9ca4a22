// Depthwise convolutions of 3x3 taps in BF16 (loops.h), as steps of a program. They take the place
// of oneDNN's primitives with channels innermost.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/convolution/primitive.h"
#include "device/cpu/kernels/depthwise/loops.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/steps/stopwatch.h"

namespace millrace::device::cpu::kernels::depthwise {

inline constexpr const char* kName = "millrace:depthwise";

// Whether the Conv is a depthwise convolution of 3x3 taps, of an image of dimensions `x`.
bool is_depthwise(const graph::Conv& op, const Dims& x, const Dims& weight);
// Returns the geometry of one image of the batch. Requirement: is_depthwise().
Geometry geometry_of(const graph::Conv& op, const Dims& x, const Dims& y);

// Whether the Conv can be such a step, with a constant filter and a constant bias or none. Its
// images are in channels_last_desc().
bool can_compute(const Convolution& convolution);
// See PlannedKernel.
uint64_t time(const Convolution& convolution, const Stopwatch& stopwatch);

// See Implementation. Requires that channels are innermost in the form of the Conv.
Result<bool> lower(Builder& builder, const Node& node, const graph::Conv& op);

}  // namespace millrace::device::cpu::kernels::depthwise
