// The first convolution of a network: of one image of up to four channels, in BF16 (loops.h), as a
// step of a program.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/kernels.h"

namespace millrace::device::cpu::kernels::few_channels {

// See Implementation. Requires that channels are innermost in the form of the Conv.
Result<bool> lower(Builder& builder, const Node& node, const graph::Conv& op);

}  // namespace millrace::device::cpu::kernels::few_channels
