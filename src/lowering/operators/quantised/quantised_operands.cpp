#include "lowering/operators/quantised/quantised_operands.h"

#include <fmt/format.h>

namespace millrace::lowering {

Status check_parameters(NodeImport& node, std::initializer_list<size_t> scales) {
  if (node.builder().as_written())
    return unsupported("as_written leaves it to a fallback operator");
  for (const size_t scale : scales)
    for (const size_t index : {scale, scale + 1})
      if (node.has(index) && !node.is_constant(index))
        return unsupported("its scales and zero points must be constants");
  return {};
}

Result<ValueId> dequantised(NodeImport& node, size_t index, int64_t axis) {
  if (!node.has(index) || !node.has(index + 1))
    return invalid_argument(fmt::format("its input {} or the scale of it is missing", index));
  if (node.shape(index + 1).size() > 1)
    return unsupported("scales along more than one dimension are not supported");
  MILLRACE_ASSIGN_OR_RETURN(
      const auto x,
      node.emit_fallback({"DequantizeLinear", {{"axis", axis}}},
                         {node.operand(index), node.operand(index + 1), node.operand(index + 2)},
                         1));
  return x[0];
}

Result<ValueId> dequantised_bias(NodeImport& node, size_t index, size_t a_scale, size_t b_scale,
                                 float factor) {
  if (!node.has(index)) return kNoValue;
  if (!node.is_constant(index)) return unsupported("its bias must be a constant");
  MILLRACE_ASSIGN_OR_RETURN(
      ValueId scale,
      node.binary(graph::BinaryKind::kMul, node.operand(a_scale), node.operand(b_scale)));
  const size_t scales = node.builder().value(scale).elements();
  const graph::Dims& shape = node.shape(index);
  if (scales != 1 && (shape.empty() || static_cast<size_t>(shape.back()) != scales))
    return unsupported("its bias must have one element for each scale");
  if (factor != 1) {
    MILLRACE_ASSIGN_OR_RETURN(scale, node.unary(graph::UnaryKind::kLinear, scale, factor));
  }
  MILLRACE_ASSIGN_OR_RETURN(const auto bias,
                            node.emit_fallback({"DequantizeLinear", {{"axis", int64_t{-1}}}},
                                               {node.operand(index), scale}, 1));
  return bias[0];
}

Result<ValueId> quantised(NodeImport& node, ValueId x, size_t scale) {
  if (!node.has(scale)) return invalid_argument("the scale of its result is missing");
  MILLRACE_ASSIGN_OR_RETURN(
      const auto y, node.emit_fallback({"QuantizeLinear", {}},
                                       {x, node.operand(scale), node.operand(scale + 1)}, 1));
  return y[0];
}

}  // namespace millrace::lowering
