#include "device/cpu/kernels/quantised/convolution/residual_sum.h"

#include <variant>

#include "device/cpu/kernels/quantised/parameters.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

using graph::kNoValue;
using graph::ValueId;

constexpr size_t kResidual = 3;

// Whether the value is a Conv's, without a residual operand of its own, for one node alone.
bool is_summand(const Builder& builder, ValueId id) {
  const Node* maker = builder.maker(id);
  return maker != nullptr && std::holds_alternative<graph::Conv>(maker->op) &&
         maker->input(kResidual) == kNoValue && !builder.is_output(id) &&
         builder.readers(id).size() == 1;
}

bool is_add(const Node& node) {
  const auto* binary = std::get_if<graph::Binary>(&node.op);
  return binary != nullptr && binary->kind == graph::BinaryKind::kAdd;
}

// Whether a Conv behind this one makes the value, and takes the sum.
bool is_later_summand(const Builder& builder, ValueId id, const Node& node) {
  // Nodes lie in one array, in order.
  return is_summand(builder, id) && builder.maker(id) > &node;
}

}  // namespace

std::optional<ResidualSum> residual_sum_of(const Builder& builder, const Node& node) {
  const ValueId made = node.outputs[0];
  if (!is_summand(builder, made)) return std::nullopt;
  const uint32_t index = builder.readers(made)[0];
  const Node& add = builder.model().graph.nodes[index];
  if (!is_add(add) || !builder.comes_later(index)) return std::nullopt;
  const ValueId residual = add.inputs[add.inputs[0] == made ? 1 : 0], result = add.outputs[0];
  if (residual == made || builder.is_constant(residual) ||
      is_later_summand(builder, residual, node))
    return std::nullopt;
  for (const ValueId id : {made, residual, result})
    if (!rule_of(builder, id) || builder.dims(id) != builder.dims(made)) return std::nullopt;
  return ResidualSum{index, residual, result};
}

}  // namespace millrace::device::cpu::kernels::quantised
