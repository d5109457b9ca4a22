// The domain of AMD's quantiser, com.amd.quark, earlier com.vai.quantize: the standard's
// quantisation for more types.
#include <fmt/format.h>

#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;

constexpr size_t kScale = 1, kZeroPoint = 2;

// The operator of the standard, for integers.
Result<ValueId> emit_standard(NodeImport& node, const char* name) {
  graph::Fallback op{name, {}};
  if (node.has_attribute("axis")) op.attributes.push_back({"axis", node.int_attribute("axis", 1)});
  MILLRACE_ASSIGN_OR_RETURN(const auto y, node.emit_fallback(std::move(op), node.operands(), 1));
  return y[0];
}

// A parameter of quantisation to a floating point type, of which there is one.
Result<ValueId> parameter(NodeImport& node, size_t index) {
  if (node.value(index).elements() == 1) return node.reshape(node.operand(index), {});
  return unsupported(
      fmt::format("input {} has several elements, for a floating point type", index));
}

}  // namespace

// The type of the zero point is that of the result. FLOAT16 and BFLOAT16 are all the same to a
// device, which computes in its own precision, so quantising to them is to scale.
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
