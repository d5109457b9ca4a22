// Convolutions from one channel to one (loops.h) as steps of a program.
#pragma once

#include "device/cpu/kernels/kernels.h"

namespace millrace::device::cpu::kernels::one_channel {

// See Implementation. The form of the Conv may be any.
Result<bool> lower(Builder& builder, const Node& node, const graph::Conv& op);

}  // namespace millrace::device::cpu::kernels::one_channel
