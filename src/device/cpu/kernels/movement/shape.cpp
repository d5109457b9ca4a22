// Reshape, Transpose and Requantise: views of the same memory, if the layout allows.
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/movement/mapped_copy.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {

Status lower(Builder& builder, const Node& node, const graph::Reshape&) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(Operand location, builder.current(x));
  if (!builder.is_floating(x)) {
    builder.set_result(y, location);
    return {};
  }
  auto seen = reshaped(location.desc, builder.dims(y));
  if (!seen) {
    MILLRACE_ASSIGN_OR_RETURN(location, builder.plain(x));
    seen = builder.plain_layout(y);
  }
  builder.set_result(y, {location.buffer, *seen});
  return {};
}

// Only the description changes; a kernel that needs the elements in another order reorders them
// once.
Status lower(Builder& builder, const Node& node, const graph::Transpose& op) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  if (!builder.is_floating(x))
    return add_mapped_copy(builder, "Transpose", x, y, transposed(builder.dims(x), op.permutation));
  MILLRACE_ASSIGN_OR_RETURN(const Operand location, builder.current(x));
  builder.set_result(y, {location.buffer, permuted(location.desc, op.permutation)});
  return {};
}

// The builder rounds what is stored as the integers of the result.
Status lower(Builder& builder, const Node& node, const graph::Requantise&) {
  MILLRACE_ASSIGN_OR_RETURN(const Operand x, builder.current(node.input(0)));
  builder.set_result(node.outputs[0], x);
  return {};
}

}  // namespace millrace::device::cpu::kernels
