// Handlers of fused operators of com.microsoft (FusedConv, FusedMatMul, FusedGemm and the Gelu
// family), which ONNX Runtime's optimiser makes of several operators of the standard. They are
// decomposed into these again, so that the passes can fuse them in their own way.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using graph::UnaryKind;

// Applies an activation that only fallback operators have.
Result<ValueId> activate_plainly(NodeImport& node, ValueId x, graph::Fallback function) {
  MILLRACE_ASSIGN_OR_RETURN(const auto y, node.emit_fallback(std::move(function), {x}, 1));
  return y[0];
}

// Applies an activation, given by its name in the standard and its parameters, in the order alpha,
// beta (Clip: min, max). An empty name is the identity.
Result<ValueId> activate(NodeImport& node, ValueId x, const std::string& name,
                         const std::vector<float>& parameters) {
  const auto parameter = [&](size_t index, float absent) {
    return index < parameters.size() ? parameters[index] : absent;
  };
  if (name.empty()) return x;
  if (name == "Relu") return node.unary(UnaryKind::kRelu, x);
  if (name == "Tanh") return node.unary(UnaryKind::kTanh, x);
  if (name == "Sigmoid") return node.unary(UnaryKind::kSigmoid, x);
  if (name == "Softplus") return node.unary(UnaryKind::kSoftplus, x);
  if (name == "LeakyRelu") return node.unary(UnaryKind::kLeakyRelu, x, parameter(0, 0.01f));
  if (name == "Elu") return node.unary(UnaryKind::kElu, x, parameter(0, 1));
  if (name == "HardSigmoid")
    return node.unary(UnaryKind::kHardSigmoid, x, parameter(0, 0.2f), parameter(1, 0.5f));
  if (name == "ScaledTanh") {
    MILLRACE_ASSIGN_OR_RETURN(x, node.unary(UnaryKind::kLinear, x, parameter(1, 1)));
    MILLRACE_ASSIGN_OR_RETURN(x, node.unary(UnaryKind::kTanh, x));
    return node.unary(UnaryKind::kLinear, x, parameter(0, 1));
  }
  if (name == "Softsign") return activate_plainly(node, x, {name, {}});
  if (name == "ThresholdedRelu")
    return activate_plainly(node, x, {name, {{"alpha", parameter(0, 1)}}});
  if (name == "Clip" && parameters.size() == 2)
    return node.unary(UnaryKind::kClip, x, std::min(parameters[0], parameters[1]), parameters[1]);
  return unsupported(
      fmt::format("activation '{}' with {} parameters is not supported", name, parameters.size()));
}

// Moves the first dimension before the last one: [M, batch..., K] becomes [batch..., M, K].
Result<ValueId> move_batch_to_front(NodeImport& node, ValueId x) {
  const size_t rank = node.builder().value(x).shape.size();
  if (rank < 3) return x;
  Dims order;
  for (size_t d = 1; d + 1 < rank; ++d) order.push_back(static_cast<int64_t>(d));
  order.push_back(0);
  order.push_back(static_cast<int64_t>(rank - 1));
  return node.emit(graph::Transpose{std::move(order)}, {x});
}

// Returns half `index` (0 or 1) of the last dimension.
Result<ValueId> half_of(NodeImport& node, ValueId x, int64_t index) {
  const Dims& shape = node.builder().value(x).shape;
  graph::Slice slice{Dims(shape.size(), 0), shape, Dims(shape.size(), 1)};
  slice.size.back() /= 2;
  slice.begin.back() = index * slice.size.back();
  return node.emit(std::move(slice), {x});
}

// Emits conv(x) + bias. Like a Conv of the standard, it is a fallback operator in a model that is
// compiled as it is written (conv_pool.cpp).
Result<ValueId> convolve(NodeImport& node) {
  const ValueId x = node.operand(0), weight = node.operand(1), bias = node.operand(2);
  if (!node.builder().as_written()) return emit_conv(node, x, weight, bias);
  MILLRACE_ASSIGN_OR_RETURN(const auto y,
                            node.emit_fallback(plain_conv(node, "Conv"), {x, weight, bias}, 1));
  return y[0];
}

}  // namespace

// FusedConv computes activation(conv(x) + bias + z).
Result<ValueId> import_fused_conv(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(ValueId y, convolve(node));
  if (node.has(3)) {
    MILLRACE_ASSIGN_OR_RETURN(y, node.binary(BinaryKind::kAdd, y, node.operand(3)));
  }
  return activate(node, y, node.string_attribute("activation", ""),
                  node.floats_attribute("activation_params").value_or(std::vector<float>()));
}

Result<ValueId> import_fused_matmul(NodeImport& node) {
  ValueId a = node.operand(0), b = node.operand(1);
  if (node.int_attribute("transBatchA", 0) != 0) {
    MILLRACE_ASSIGN_OR_RETURN(a, move_batch_to_front(node, a));
  }
  if (node.int_attribute("transBatchB", 0) != 0) {
    MILLRACE_ASSIGN_OR_RETURN(b, move_batch_to_front(node, b));
  }
  graph::MatMul matmul;
  matmul.transpose_a = node.int_attribute("transA", 0) != 0;
  matmul.transpose_b = node.int_attribute("transB", 0) != 0;
  matmul.alpha = node.float_attribute("alpha", 1);
  return node.emit(matmul, {a, b});
}

Result<ValueId> import_fused_gemm(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, import_gemm(node));
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta"})
    if (node.has_attribute(name)) parameters.push_back(node.float_attribute(name, 0));
  return activate(node, y, node.string_attribute("activation", ""), parameters);
}

Result<ValueId> import_bias_gelu(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId sum,
                            node.binary(BinaryKind::kAdd, node.operand(0), node.operand(1)));
  return node.unary(UnaryKind::kGelu, sum);
}

// FastGelu is the tanh approximation of Gelu, applied to x + bias; the bias may be absent.
Result<ValueId> import_fast_gelu(NodeImport& node) {
  ValueId x = node.operand(0);
  if (node.has(1)) {
    MILLRACE_ASSIGN_OR_RETURN(x, node.binary(BinaryKind::kAdd, x, node.operand(1)));
  }
  MILLRACE_ASSIGN_OR_RETURN(
      const auto y, node.emit_fallback({"Gelu", {{"approximate", std::string("tanh")}}}, {x}, 1));
  return y[0];
}

Result<ValueId> import_quick_gelu(NodeImport& node) {
  const ValueId x = node.operand(0);
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId scaled,
      node.unary(UnaryKind::kLinear, x, node.float_attribute("alpha", 1.702f)));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId gate, node.unary(UnaryKind::kSigmoid, scaled));
  return node.binary(BinaryKind::kMul, x, gate);
}

// The last dimension of x + bias is a value followed by its gate: the result is value * Gelu(gate).
Result<ValueId> import_bias_split_gelu(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId sum,
                            node.binary(BinaryKind::kAdd, node.operand(0), node.operand(1)));
  const Dims& shape = node.builder().value(sum).shape;
  if (shape.empty() || shape.back() % 2 != 0)
    return invalid_argument("its input must have a last dimension of even size");
  MILLRACE_ASSIGN_OR_RETURN(const ValueId value, half_of(node, sum, 0));
  MILLRACE_ASSIGN_OR_RETURN(ValueId gate, half_of(node, sum, 1));
  MILLRACE_ASSIGN_OR_RETURN(gate, node.unary(UnaryKind::kGelu, gate));
  return node.binary(BinaryKind::kMul, value, gate);
}

}  // namespace millrace::lowering
