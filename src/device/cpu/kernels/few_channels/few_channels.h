// The first convolution of networks that take pictures: one image of up to four channels, in BF16
// (loops.h), as a step of a program.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/kernels.h"

namespace millrace::device::cpu::kernels::few_channels {

// Lowers the Conv where it reads one image of up to four channels, in BF16, and its form has
// channels innermost; false, with nothing added, where there is no such step for it.
Result<bool> lower(Builder& builder, const Node& node, const graph::Conv& op);

}  // namespace millrace::device::cpu::kernels::few_channels
