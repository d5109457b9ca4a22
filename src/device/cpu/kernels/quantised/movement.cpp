// Operators that move elements and compute nothing: they move the integers if the result has the
// quantisation of the operand.
#include <vector>

#include "device/cpu/kernels/movement/concat.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/quantised.h"
#include "device/cpu/kernels/quantised/table.h"
#include "device/cpu/kernels/resize.h"
#include "tensor/element.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

using graph::ValueId;

bool keeps_quantisation(const Builder& builder, const Node& node) {
  return same_quantisation(builder, node.input(0), node.outputs[0]);
}

// Lowers the node by the kernel for integers, on plain tensors.
template <class Op>
Result<bool> lower_plain(Builder& builder, const Node& node, const Op& op) {
  builder.see_integers();
  MILLRACE_RETURN_IF_ERROR(kernels::lower(builder, node, op));
  return true;
}

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Reshape&) {
  if (!keeps_quantisation(builder, node)) return false;
  const ValueId x = node.input(0), y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(Operand location, builder.stored(x));
  auto seen = reshaped(location.desc, builder.dims(y));
  if (!seen) {
    MILLRACE_ASSIGN_OR_RETURN(location, builder.stored_in(x, builder.plain_stored_form(x)));
    seen = builder.plain_stored_form(y);
  }
  builder.set_stored_result(y, {location.buffer, *seen});
  return true;
}

Result<bool> lower(Builder& builder, const Node& node, const graph::Transpose& op) {
  if (!keeps_quantisation(builder, node)) return false;
  MILLRACE_ASSIGN_OR_RETURN(const Operand location, builder.stored(node.input(0)));
  builder.set_stored_result(node.outputs[0],
                            {location.buffer, permuted(location.desc, op.permutation)});
  return true;
}

Result<bool> lower(Builder& builder, const Node& node, const graph::Slice& op) {
  if (!keeps_quantisation(builder, node)) return false;
  return lower_plain(builder, node, op);
}

Result<bool> lower(Builder& builder, const Node& node, const graph::Gather& op) {
  if (!keeps_quantisation(builder, node)) return false;
  return lower_plain(builder, node, op);
}

Result<bool> lower(Builder& builder, const Node& node, const graph::Pad& op) {
  if (!keeps_quantisation(builder, node)) return false;
  const ValueId y = node.outputs[0];
  graph::Pad in_steps = op;
  const auto rule = *rule_of(builder, y);
  in_steps.value = builder.stored_type(y) == ElementType::s8
                       ? static_cast<float>(tensor::quantise<int8_t>(op.value, rule))
                       : static_cast<float>(tensor::quantise<uint8_t>(op.value, rule));
  return lower_plain(builder, node, in_steps);
}

Result<bool> lower(Builder& builder, const Node& node, const graph::Expand& op) {
  if (!keeps_quantisation(builder, node)) return false;
  return lower_plain(builder, node, op);
}

// Operands with another quantisation are requantised on the way.
Result<bool> lower(Builder& builder, const Node& node, const graph::Concat& op) {
  const ValueId y = node.outputs[0];
  if (!rule_of(builder, y)) return false;
  const std::vector<ValueId> inputs = non_empty_inputs(builder, node);
  for (const ValueId id : inputs)
    if (!rule_of(builder, id)) return false;
  std::vector<Operand> parts;
  for (const ValueId id : inputs) {
    MILLRACE_ASSIGN_OR_RETURN(parts.emplace_back(), stored_as(builder, id, y));
  }
  builder.set_stored_result(
      y, join(builder, y, inputs, parts, static_cast<size_t>(op.axis), builder.stored_type(y)));
  return true;
}

Result<bool> lower(Builder& builder, const Node& node, const graph::Resize& op) {
  if (!keeps_quantisation(builder, node)) return false;
  const ValueId x = node.input(0), y = node.outputs[0];
  const Desc from = channels_last_desc(builder.dims(x), builder.stored_type(x));
  const Desc to = channels_last_desc(builder.dims(y), builder.stored_type(y));
  if (const auto primitive = make_resampling(builder, node, op, {from}, to)) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand there, builder.stored_in(x, from));
    add_resampling(builder, *primitive, there, builder.new_stored_result(y, to));
    return true;
  }
  return op.mode == graph::ResizeMode::kNearest ? lower_plain(builder, node, op)
                                                : Result<bool>(false);
}

}  // namespace millrace::device::cpu::kernels::quantised
