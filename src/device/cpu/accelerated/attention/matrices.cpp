#include "device/cpu/accelerated/attention/matrices.h"

#include <variant>

#include "graph/operators.h"

namespace millrace::device::cpu::accelerated::attention {

using graph::ValueId;

Matrices matrices_of(const Operand& operand) {
  return {operand.buffer, static_cast<size_t>(start_of(operand.desc)), *strides_of(operand.desc)};
}

Result<Matrices> matrices_of(Builder& builder, ValueId id) {
  if (!builder.is_constant(id) && builder.type() == ElementType::f32) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder.current(id));
    if (const auto strides = strides_of(now.desc); strides && strides->back() == 1)
      return matrices_of(now);
  }
  MILLRACE_ASSIGN_OR_RETURN(const Operand plain, plain_operand(builder, id));
  return matrices_of(plain);
}

Desc result_form(const Builder& builder, ValueId result) {
  const Dims dims = builder.dims(result);
  for (const uint32_t reader : builder.readers(result)) {
    const graph::Node& node = builder.model().graph.nodes[reader];
    const auto* op = std::get_if<graph::Transpose>(&node.op);
    if (op == nullptr || op->permutation.back() + 1 != static_cast<int64_t>(dims.size())) continue;
    const std::vector<uint32_t> order(op->permutation.begin(), op->permutation.end());
    return ordered_desc(dims, ElementType::f32, order);
  }
  return plain_desc(dims, ElementType::f32);
}

}  // namespace millrace::device::cpu::accelerated::attention
