#include "device/cpu/builder/operands.h"

namespace millrace::device::cpu {
namespace {

bool is_kept_as(const Builder& builder, graph::ValueId id, const Desc& desc) {
  return !builder.is_floating(id) || desc.data_type() == builder.type();
}

Desc plain_fp32(const Builder& builder, graph::ValueId id) {
  if (!builder.is_floating(id)) return builder.plain_layout(id);
  return plain_desc(builder.dims(id), ElementType::f32);
}

}  // namespace

std::vector<fallback::TensorView> operand_views(const Builder& builder, const graph::Node& node) {
  std::vector<fallback::TensorView> views(node.inputs.size());
  for (size_t i = 0; i < views.size(); ++i) {
    if (node.inputs[i] == graph::kNoValue) continue;
    const graph::Value& value = builder.value(node.inputs[i]);
    views[i] = {value.type, value.shape, value.constant ? value.constant->bytes.data() : nullptr};
  }
  return views;
}

// A copy in another type does not become a location of the value, since the other kernels of the
// partition expect its own type.
Result<Operand> operand_as(Builder& builder, graph::ValueId id, const Desc& wanted) {
  if (builder.is_constant(id) && builder.is_floating(id)) return builder.packed(id, wanted);
  if (is_kept_as(builder, id, wanted)) return builder.in_layout(id, wanted);
  MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder.current(id));
  return builder.reordered(id, now, wanted);
}

Result<Operand> plain_operand(Builder& builder, graph::ValueId id) {
  return operand_as(builder, id, plain_fp32(builder, id));
}

Operand result_as(Builder& builder, graph::ValueId id, const Desc& desc) {
  if (is_kept_as(builder, id, desc)) return builder.new_result(id, desc);
  return builder.new_temporary(desc);
}

void finish_result(Builder& builder, graph::ValueId id, const Operand& written) {
  if (is_kept_as(builder, id, written.desc)) return;
  const Operand result = builder.new_result(id, with_type(written.desc, builder.type()));
  builder.add_reorder(id, written, result);
}

Operand plain_result(Builder& builder, graph::ValueId id) {
  return result_as(builder, id, plain_fp32(builder, id));
}

}  // namespace millrace::device::cpu
