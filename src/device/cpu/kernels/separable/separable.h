// A 1x1 convolution followed by a depthwise one, as one step of a program (loops.h).
#pragma once

#include <cstdint>

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/convolution/primitive.h"
#include "device/cpu/steps/stopwatch.h"

namespace millrace::device::cpu::kernels::separable {

inline constexpr const char* kName = "millrace:separable";

// Returns the layout of the image and of the result of a pair.
Desc image_layout(const Convolution& pointwise, const Convolution& depthwise);
// Returns the nanoseconds that the step of both takes; see PlannedKernel::time. Requirement:
// partner_of() has found them (pairs.h).
uint64_t time(const Convolution& pointwise, const Convolution& depthwise,
              const Stopwatch& stopwatch);

// See Implementation. Leaves a pointwise Conv to its partner, if it has one and the form
// kSeparable, and lowers a depthwise Conv together with the one that was left to it.
Result<bool> lower(Builder& builder, const graph::Node& node, const graph::Conv& op);

}  // namespace millrace::device::cpu::kernels::separable
