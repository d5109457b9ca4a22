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
// Nanoseconds that the step of both takes; see Implementation::time. Requirement: partner_of() has
// found them (pairs.h).
uint64_t time(const Convolution& pointwise, const Convolution& depthwise,
              const Stopwatch& stopwatch);

// Leaves a pointwise Conv to its partner, where it has one and the form kSeparable, and lowers a
// depthwise one together with the Conv that was left to it. See Implementation.
Result<bool> lower(Builder& builder, const graph::Node& node, const graph::Conv& op);

}  // namespace millrace::device::cpu::kernels::separable
