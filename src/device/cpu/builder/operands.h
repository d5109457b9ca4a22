// Operands and results in a type or layout that a kernel asks for, whatever type the partition that
// is being lowered keeps floating point values in.
#pragma once

#include <vector>

#include "device/cpu/builder/builder.h"
#include "fallback/tensor_view.h"

namespace millrace::device::cpu {

// Returns the operands of a node. Constants have their elements, which belong to the model.
std::vector<fallback::TensorView> operand_views(const Builder& builder, const graph::Node& node);

// The value in the layout and type of `wanted`, which has the value's dims.
Result<Operand> operand_as(Builder& builder, graph::ValueId id, const Desc& wanted);
// The value in C order: floating point values in FP32, others as they are.
Result<Operand> plain_operand(Builder& builder, graph::ValueId id);

// result_as() returns memory for a result that a step is about to write as `desc`. When that step
// has been added, finish_result() makes the result of it.
Operand result_as(Builder& builder, graph::ValueId id, const Desc& desc);
void finish_result(Builder& builder, graph::ValueId id, const Operand& written);

// The same for a result in C order, as plain_operand() has operands.
Operand plain_result(Builder& builder, graph::ValueId id);

}  // namespace millrace::device::cpu
