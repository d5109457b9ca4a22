// Steps that quantise floating point elements and dequantise integers.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"

namespace millrace::device::cpu {

// Add the step that converts an FP32 operand to one of builder.stored_type(id), and the step back.
// Both operands have the same layout: plain if the quantisation of the value is per axis, otherwise
// dense and without padding.
Status add_quantise(Builder& builder, graph::ValueId id, const Operand& numbers,
                    const Operand& integers);
Status add_dequantise(Builder& builder, graph::ValueId id, const Operand& integers,
                      const Operand& numbers);

}  // namespace millrace::device::cpu
