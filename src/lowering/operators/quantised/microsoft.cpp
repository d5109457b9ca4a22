// Handlers of quantised operators of com.microsoft, in terms of operators of the standard. Matrix
// products become MatMulInteger and scaling; operators that are defined in floating point
// (QLinearSoftmax, QLinearWhere, QLinearReduceMean) are put between DequantizeLinear and
// QuantizeLinear.
#include "lowering/operators/quantised/integer_product.h"

#include <fmt/format.h>

#include "fallback/tensor_view.h"
#include "lowering/operators/handlers.h"
#include "lowering/operators/quantised/quantised_operands.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using tensor::DataType;

// Returns the operand, which must be a matrix, transposed if the attribute is set.
Result<ValueId> transposed(NodeImport& node, size_t index, const char* attribute) {
  if (node.shape(index).size() != 2) return invalid_argument("its operands must be two matrices");
  if (node.int_attribute(attribute, 0) == 0) return node.operand(index);
  return node.emit(graph::Transpose{{1, 0}}, {node.operand(index)});
}

}  // namespace

Result<ValueId> scaled_product(NodeImport& node, const IntegerProduct& product) {
  MILLRACE_ASSIGN_OR_RETURN(
      const auto sums,
      node.emit_fallback({"MatMulInteger", {}},
                         {product.a, product.b, product.a_zero, product.b_zero}, 1));
  MILLRACE_ASSIGN_OR_RETURN(ValueId y, node.emit(graph::Cast{DataType::kFloat32}, {sums[0]}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId scale,
                            node.binary(BinaryKind::kMul, product.a_scale, product.b_scale));
  MILLRACE_ASSIGN_OR_RETURN(y, node.binary(BinaryKind::kMul, y, scale));
  if (product.bias == kNoValue) return y;
  return node.binary(BinaryKind::kAdd, y, product.bias);
}

// Inputs: a; b; their scales; their zero points; bias.
Result<ValueId> import_matmul_integer_to_float(NodeImport& node) {
  return scaled_product(node, {node.operand(0), node.operand(1), node.operand(2), node.operand(3),
                               node.operand(4), node.operand(5), node.operand(6)});
}

// Inputs: a in floating point; b; its scale; its zero point; bias.
Result<ValueId> import_dynamic_quantize_matmul(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(
      const auto a, node.emit_fallback({"DynamicQuantizeLinear", {}}, {node.operand(0)}, 3));
  return scaled_product(
      node, {a[0], node.operand(1), a[1], node.operand(2), a[2], node.operand(3), node.operand(4)});
}

// QGemm is an integer product (MatMulInteger) if it cannot be expressed by DequantizeLinear, for
// instance because scales are not constants.
Result<ValueId> import_qgemm(NodeImport& node) {
  const Result<ValueId> of_numbers = import_qgemm_of_numbers(node);
  if (of_numbers.status().code() != StatusCode::kUnsupported) return of_numbers;
  MILLRACE_ASSIGN_OR_RETURN(const ValueId a, transposed(node, 0, "transA"));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId b, transposed(node, 3, "transB"));
  MILLRACE_ASSIGN_OR_RETURN(
      auto sums,
      node.emit_fallback({"MatMulInteger", {}}, {a, b, node.operand(2), node.operand(5)}, 1));
  if (node.has(6)) {
    MILLRACE_ASSIGN_OR_RETURN(sums, node.emit_fallback({"Add", {}}, {sums[0], node.operand(6)}, 1));
  }
  MILLRACE_ASSIGN_OR_RETURN(ValueId y, node.emit(graph::Cast{DataType::kFloat32}, {sums[0]}));
  MILLRACE_ASSIGN_OR_RETURN(ValueId scale,
                            node.binary(BinaryKind::kMul, node.operand(1), node.operand(4)));
  const float alpha = node.float_attribute("alpha", 1);
  if (alpha != 1) {
    MILLRACE_ASSIGN_OR_RETURN(scale, node.unary(graph::UnaryKind::kLinear, scale, alpha));
  }
  MILLRACE_ASSIGN_OR_RETURN(y, node.binary(BinaryKind::kMul, y, scale));
  return node.has(7) ? quantised(node, y, 7) : y;
}

// The attribute opset says which Softmax of the standard is meant. Before opset 13, all dimensions
// from `axis` on count as one.
Result<ValueId> import_qlinear_softmax(NodeImport& node) {
  const Dims shape = node.shape(0);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            normalise_axis(node.int_attribute("axis", -1), shape.size()));
  MILLRACE_ASSIGN_OR_RETURN(ValueId x, dequantised(node, 0));
  if (node.int_attribute("opset", 13) < 13 && axis + 1 != shape.size()) {
    Dims joined(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
    joined.push_back(static_cast<int64_t>(fallback::element_count(std::span(shape).subspan(axis))));
    MILLRACE_ASSIGN_OR_RETURN(x, node.reshape(x, std::move(joined)));
  }
  MILLRACE_ASSIGN_OR_RETURN(x, node.emit(graph::Softmax{static_cast<int64_t>(axis), false}, {x}));
  MILLRACE_ASSIGN_OR_RETURN(x, node.reshape(x, shape));
  return quantised(node, x, 3);
}

// Inputs: condition; x, its scale and zero point; y, its scale and zero point; scale and zero point
// of the result.
Result<ValueId> import_qlinear_where(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId x, dequantised(node, 1));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, dequantised(node, 4));
  MILLRACE_ASSIGN_OR_RETURN(const auto chosen,
                            node.emit_fallback({"Where", {}}, {node.operand(0), x, y}, 1));
  return quantised(node, chosen[0], 7);
}

Result<ValueId> import_qlinear_reduce_mean(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(ValueId x, dequantised(node, 0));
  Dims all;
  for (size_t d = 0; d < node.shape(0).size(); ++d) all.push_back(static_cast<int64_t>(d));
  MILLRACE_ASSIGN_OR_RETURN(
      Dims axes, normalise_axes(node.ints_attribute("axes").value_or(all), node.shape(0).size()));
  MILLRACE_ASSIGN_OR_RETURN(x, node.reduce(graph::ReduceKind::kMean, x, std::move(axes),
                                           node.int_attribute("keepdims", 1) != 0));
  return quantised(node, x, 3);
}

// QuantizeLinear and DequantizeLinear of com.microsoft, which had INT16 and UINT16 before the
// standard.
Result<ValueId> import_quantize_of_microsoft(NodeImport& node) {
  graph::Fallback op{node.type(), {}};
  for (const char* name : {"axis", "block_size", "output_dtype"})
    if (node.has_attribute(name)) op.attributes.push_back({name, node.int_attribute(name, 0)});
  MILLRACE_ASSIGN_OR_RETURN(const auto y, node.emit_fallback(std::move(op), node.operands(), 1));
  return y[0];
}

}  // namespace millrace::lowering
