// Handlers of the QLinear operators of the standard and of com.microsoft, and of QGemm. Each
// becomes the floating-point operator between DequantizeLinear and QuantizeLinear. The passes turn
// that into an operator on quantised values (keep_quantised).
#include "graph/shape.h"
#include "lowering/operators/handlers.h"
#include "lowering/operators/quantised/channels_last.h"
#include "lowering/operators/quantised/quantised_operands.h"

namespace millrace::lowering {
namespace {

using graph::Dims;

// Refuses a result without a zero point, unless x is UINT8. Without a zero point, the result of
// QuantizeLinear is UINT8, while that of these operators has the type of x.
Status check_result_type(NodeImport& node, size_t scale, size_t x) {
  if (node.has(scale + 1) || node.value(x).type == tensor::DataType::kUint8) return {};
  return unsupported("a result without a zero point is supported for UINT8 only");
}

// Emits a function of one operand. Inputs: x, its scale and zero point; scale and zero point of the
// result.
template <class Function>
Result<ValueId> import_function(NodeImport& node, Function function) {
  MILLRACE_RETURN_IF_ERROR(check_parameters(node, {1, 3}));
  MILLRACE_RETURN_IF_ERROR(check_result_type(node, 3, 0));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId x, dequantised(node, 0));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, function(x));
  return quantised(node, y, 3);
}

// Inputs: x, its scale and zero point; weight, its scale and zero point; scale and zero point of
// the result; bias.
Result<ValueId> conv_of_numbers(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId x, dequantised(node, 0));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId weight, dequantised(node, 3, 0));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId bias, dequantised_bias(node, 8, 1, 4));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, with_channels_first(node, x, [&](ValueId image) {
                              return emit_conv(node, image, weight, bias);
                            }));
  return quantised(node, y, 6);
}

}  // namespace

Result<ValueId> import_qlinear_conv(NodeImport& node) {
  MILLRACE_RETURN_IF_ERROR(check_parameters(node, {1, 4, 6}));
  return conv_of_numbers(node);
}

// There is no fallback kernel for this operator, so it is always decomposed.
Result<ValueId> import_qlinear_conv_of_microsoft(NodeImport& node) {
  return conv_of_numbers(node);
}

// Inputs: a, its scale and zero point (may be per row); b, its scale and zero point (may be per
// column); scale and zero point of the result.
Result<ValueId> import_qlinear_matmul(NodeImport& node) {
  MILLRACE_RETURN_IF_ERROR(check_parameters(node, {1, 4, 6}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId a,
                            dequantised(node, 0, node.shape(0).size() < 2 ? 0 : -2));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId b, dequantised(node, 3, -1));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, node.emit(graph::MatMul{}, {a, b}));
  return quantised(node, y, 6);
}

Result<ValueId> import_qlinear_binary(NodeImport& node, graph::BinaryKind kind) {
  MILLRACE_RETURN_IF_ERROR(check_parameters(node, {1, 4, 6}));
  MILLRACE_RETURN_IF_ERROR(check_result_type(node, 6, 0));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId a, dequantised(node, 0));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId b, dequantised(node, 3));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, node.binary(kind, a, b));
  return quantised(node, y, 6);
}

Result<ValueId> import_qlinear_add(NodeImport& node) {
  return import_qlinear_binary(node, graph::BinaryKind::kAdd);
}

Result<ValueId> import_qlinear_mul(NodeImport& node) {
  return import_qlinear_binary(node, graph::BinaryKind::kMul);
}

Result<ValueId> import_qlinear_sigmoid(NodeImport& node) {
  return import_function(node,
                         [&](ValueId x) { return node.unary(graph::UnaryKind::kSigmoid, x); });
}

Result<ValueId> import_qlinear_leaky_relu(NodeImport& node) {
  const float alpha = node.float_attribute("alpha", 0.01f);
  return import_function(
      node, [&](ValueId x) { return node.unary(graph::UnaryKind::kLeakyRelu, x, alpha); });
}

Result<ValueId> import_qlinear_global_average_pool(NodeImport& node) {
  return import_function(node, [&](ValueId x) {
    return with_channels_first(node, x, [&](ValueId image) {
      return node.emit(graph::GlobalPool{graph::PoolKind::kAverage}, {image});
    });
  });
}

// There is no fallback kernel for this operator, so it is always decomposed.
Result<ValueId> import_qlinear_average_pool(NodeImport& node) {
  MILLRACE_RETURN_IF_ERROR(check_result_type(node, 3, 0));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId x, dequantised(node, 0));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, with_channels_first(node, x, [&](ValueId image) {
                              return emit_average_pool(node, image);
                            }));
  return quantised(node, y, 3);
}

// Inputs: scale and zero point of the result; then each part with its scale and zero point.
Result<ValueId> import_qlinear_concat(NodeImport& node) {
  if (node.operand_count() < 5 || (node.operand_count() - 2) % 3 != 0)
    return invalid_argument("its inputs must be a scale, a zero point, and three for each part");
  MILLRACE_RETURN_IF_ERROR(check_parameters(node, {0}));
  MILLRACE_RETURN_IF_ERROR(check_result_type(node, 0, 2));
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            normalise_axis(node.int_attribute("axis", 0), node.shape(2).size()));
  std::vector<ValueId> parts;
  for (size_t part = 2; part < node.operand_count(); part += 3) {
    MILLRACE_RETURN_IF_ERROR(check_parameters(node, {part + 1}));
    MILLRACE_ASSIGN_OR_RETURN(parts.emplace_back(), dequantised(node, part));
  }
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y,
                            node.emit(graph::Concat{static_cast<int64_t>(axis)}, std::move(parts)));
  return quantised(node, y, 0);
}

// Inputs: a, its scale and zero point; b, its scale and zero point; c, INT32 with the scale of the
// product; scale and zero point of the result. Without these the result is FLOAT32.
Result<ValueId> import_qgemm_of_numbers(NodeImport& node) {
  MILLRACE_RETURN_IF_ERROR(check_parameters(node, {1, 4, 7}));
  if (node.shape(0).size() != 2 || node.shape(3).size() != 2)
    return invalid_argument("its operands must be two matrices");
  graph::MatMul matmul;
  matmul.transpose_a = node.int_attribute("transA", 0) != 0;
  matmul.transpose_b = node.int_attribute("transB", 0) != 0;
  matmul.alpha = node.float_attribute("alpha", 1);
  MILLRACE_ASSIGN_OR_RETURN(const ValueId a, dequantised(node, 0));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId b, dequantised(node, 3, matmul.transpose_b ? 0 : 1));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId c, dequantised_bias(node, 6, 1, 4, matmul.alpha));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, node.emit(matmul, {a, b, c}));
  return node.has(7) ? quantised(node, y, 7) : y;
}

}  // namespace millrace::lowering
