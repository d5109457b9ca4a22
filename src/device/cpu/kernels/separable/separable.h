// A convolution of one pixel and the depthwise one behind it as one step of a program (loops.h).
#pragma once

#include "device/cpu/builder.h"

namespace millrace::device::cpu::kernels::separable {

// Whether the node that is being lowered, a Conv, was left to the depthwise one behind it, which
// alone reads its result: where the image between them is so large that to keep it out of memory
// saves time.
bool postpone(Builder& builder, const graph::Node& node, const graph::Conv& op);

// Lowers the node with the one before it that was left to it. False: there is none such.
Result<bool> lower_with_postponed(Builder& builder, const graph::Node& node);

}  // namespace millrace::device::cpu::kernels::separable
