// The largest elements under windows (loops.h) as steps of a program that computes in BF16.
#pragma once

#include "base/status.h"
#include "device/cpu/builder.h"
#include "device/cpu/kernels/kernels.h"

namespace millrace::device::cpu::kernels::max_pooling {

// Lowers the Pool; false, with nothing added, where there is no such step for it.
Result<bool> lower(Builder& builder, const Node& node, const graph::Pool& op);

}  // namespace millrace::device::cpu::kernels::max_pooling
