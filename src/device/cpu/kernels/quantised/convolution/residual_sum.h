// The sum that follows a Conv, as models with residual connections have it. oneDNN's
// convolution adds the other operand as it stores its result, which saves a pass over both.
#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/kernels.h"

namespace millrace::device::cpu::kernels::quantised {

struct ResidualSum {
  uint32_t node;  // the Add
  graph::ValueId residual, result;
};

// The sum that the Conv `node`, which is being lowered, may compute with its result, rounded as
// the value between them says: a later Add of the same partition that alone reads it, and whose
// other operand no later Conv could be added to in the same way. All three values have a rule_of().
std::optional<ResidualSum> residual_sum_of(const Builder& builder, const Node& node);

// Lowers an Add together with the Conv that was left to it; false, with nothing added, where there
// is none.
Result<bool> lower_postponed_conv(Builder& builder, const Node& add);

}  // namespace millrace::device::cpu::kernels::quantised
