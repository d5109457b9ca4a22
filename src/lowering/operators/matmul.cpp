#include "lowering/operators/handlers.h"

namespace millrace::lowering {

Result<ValueId> import_matmul(NodeImport& node) {
  return node.emit(graph::MatMul{}, {node.operand(0), node.operand(1)});
}

// Gemm is alpha * A B + beta * C. MatMul has no beta, so C is multiplied by it; a constant C is
// folded.
Result<ValueId> import_gemm(NodeImport& node) {
  if (node.shape(0).size() != 2 || node.shape(1).size() != 2) {
    return invalid_argument("its operands must be two matrices");
  }
  graph::MatMul matmul;
  matmul.transpose_a = node.int_attribute("transA", 0) != 0;
  matmul.transpose_b = node.int_attribute("transB", 0) != 0;
  matmul.alpha = node.float_attribute("alpha", 1);
  const float beta = node.float_attribute("beta", 1);
  ValueId bias = node.operand(2);
  if (beta == 0) bias = kNoValue;
  if (bias != kNoValue && beta != 1) {
    MILLRACE_ASSIGN_OR_RETURN(bias, node.unary(graph::UnaryKind::kLinear, bias, beta));
  }
  return node.emit(matmul, {node.operand(0), node.operand(1), bias});
}

}  // namespace millrace::lowering
