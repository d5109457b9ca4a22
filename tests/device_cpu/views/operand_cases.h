// Makes one or more nodes for every operator that has a kernel on the CPU device, with operands to
// test them on.
#pragma once

#include <string>
#include <vector>

#include "tests/device_cpu/accelerated/as_plain.h"
#include "tests/device_cpu/model_builder.h"

namespace millrace::device::cpu {

// A node; its operands are constants of the model, inputs, or absent.
struct OperandCase {
  std::string name;  // of the operator, with its function where it has several, and of the variant
  graph::Operator op;
  std::vector<Given> operands;
  size_t outputs = 1;
};

const std::vector<OperandCase>& operand_cases();

// Adds a constant of the model.
graph::ValueId add_constant(ModelBuilder& builder, const Given& given);
// Adds the node, with these operands; returns its outputs.
std::vector<graph::ValueId> add_node(ModelBuilder& builder, const OperandCase& test,
                                     const std::vector<graph::ValueId>& operands);

}  // namespace millrace::device::cpu
