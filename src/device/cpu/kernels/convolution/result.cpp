#include "device/cpu/kernels/convolution/result.h"

#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {

using graph::kNoValue;
using graph::ValueId;

Result<Operand> make_result(Builder& builder, const graph::Node& node, const Desc& desc) {
  const ValueId added = node.input(3), y = node.outputs[0];
  if (added == kNoValue) return builder.new_result(y, desc);
  MILLRACE_ASSIGN_OR_RETURN(const Operand residual, builder.current(added));
  if (residual.desc == desc && builder.may_overwrite(added, residual)) {
    builder.set_result(y, residual);
    return residual;
  }
  const Operand result = builder.new_result(y, desc);
  builder.add_reorder(y, residual, result);
  return result;
}

Status add_functions(Builder& builder, const graph::Node& node, const Convolution& convolution,
                     const FusedFunctions& done, const Operand& y) {
  const ValueId slopes = node.input(4);
  const graph::Activation& activation = convolution.op->activation;
  if (slopes != kNoValue && !done.prelu) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand slope, builder.packed(slopes, slope_desc(convolution)));
    MILLRACE_RETURN_IF_ERROR(add_prelu(builder, y, slope, y));
  }
  if (activation.kind == graph::UnaryKind::kIdentity || done.activation) return {};
  return add_unary(builder, activation, y, y);
}

}  // namespace millrace::device::cpu::kernels
