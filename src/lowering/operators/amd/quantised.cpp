// Handlers of the operators of AMD's quantiser (domain com.amd.quark, formerly com.vai.quantize):
// QuantizeLinear and DequantizeLinear extended to floating-point quantised types.
#include <fmt/format.h>

#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;

constexpr size_t kScale = 1, kZeroPoint = 2;

// Emits the operator of the standard, which serves integer types.
Result<ValueId> emit_standard(NodeImport& node, const char* name) {
  graph::Fallback op{name, {}};
  if (node.has_attribute("axis")) op.attributes.push_back({"axis", node.int_attribute("axis", 1)});
  MILLRACE_ASSIGN_OR_RETURN(const auto y, node.emit_fallback(std::move(op), node.operands(), 1));
  return y[0];
}

// Returns a scale or zero point as a scalar. Quantisation to a floating-point type is supported
// with a single pair of parameters only.
Result<ValueId> parameter(NodeImport& node, size_t index) {
  if (node.value(index).elements() == 1) return node.reshape(node.operand(index), {});
  return unsupported(
      fmt::format("input {} must have one element for a floating-point quantised type", index));
}

}  // namespace

// The type of the zero point is that of the result. A device computes FLOAT16 and BFLOAT16 in its
// own precision, so quantising to them is x / scale + zero_point without rounding.
Result<ValueId> import_extended_quantize(NodeImport& node) {
  if (!node.has(kZeroPoint) || !tensor::is_floating(node.value(kZeroPoint).type))
    return emit_standard(node, "QuantizeLinear");
  MILLRACE_ASSIGN_OR_RETURN(const ValueId scale, parameter(node, kScale));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId zero, parameter(node, kZeroPoint));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, node.binary(BinaryKind::kDiv, node.operand(0), scale));
  return node.binary(BinaryKind::kAdd, y, zero);
}

Result<ValueId> import_extended_dequantize(NodeImport& node) {
  if (!tensor::is_floating(node.value(0).type)) return emit_standard(node, "DequantizeLinear");
  ValueId y = node.operand(0);
  if (node.has(kZeroPoint)) {
    MILLRACE_ASSIGN_OR_RETURN(const ValueId zero, parameter(node, kZeroPoint));
    MILLRACE_ASSIGN_OR_RETURN(y, node.binary(BinaryKind::kSub, y, zero));
  }
  MILLRACE_ASSIGN_OR_RETURN(const ValueId scale, parameter(node, kScale));
  return node.binary(BinaryKind::kMul, y, scale);
}

}  // namespace millrace::lowering
