// Steps between floating point numbers and the integers of a quantised value.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"

namespace millrace::device::cpu {

// Between an FP32 operand and one of builder.stored_type(id), both with the layout of the other:
// plain where the quantisation of the value is per axis, dense and without padding otherwise.
Status add_quantise(Builder& builder, graph::ValueId id, const Operand& numbers,
                    const Operand& integers);
Status add_dequantise(Builder& builder, graph::ValueId id, const Operand& integers,
                      const Operand& numbers);

}  // namespace millrace::device::cpu
