// Elementwise functions that the Unary of the graph computes for all floating-point types but
// FLOAT64, such as Exp, Sigmoid, HardSwish and Softplus, and Mish and Selu. These kernels support
// FLOAT32 and FLOAT64.
#include <cmath>

#include "fallback/common_shapes.h"
#include "fallback/elementwise/apply.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

using graph::UnaryKind;

// Computes a Unary of the graph.
template <UnaryKind kKind>
Status unary(const Call& call, float alpha, float beta = 0) {
  return apply_to_reals(
      call, [=](auto x) { return reference::value_of<decltype(x)>(kKind, x, alpha, beta); });
}
template <UnaryKind kKind>
Status unary(const Call& call) {
  return unary<kKind>(call, 0);
}

Status leaky_relu(const Call& call) {
  return unary<UnaryKind::kLeakyRelu>(call, call.real("alpha", 0.01f));
}

Status elu(const Call& call) {
  return unary<UnaryKind::kElu>(call, call.real("alpha", 1));
}

Status hard_sigmoid(const Call& call) {
  return unary<UnaryKind::kHardSigmoid>(call, call.real("alpha", 0.2f), call.real("beta", 0.5f));
}

// Unlike the Unary of the graph, this multiplies by 1 / 6, which rounds differently.
Status hard_swish(const Call& call) {
  return apply_to_reals(call, [](auto x) {
    using T = decltype(x);
    return x * reference::hard_sigmoid<T>(x, T{1} / 6, T{0.5});
  });
}

Status mish(const Call& call) {
  return apply_to_reals(call, [](auto x) { return x * std::tanh(reference::softplus(x)); });
}

Status selu(const Call& call) {
  const float alpha = call.real("alpha", 1.67326319217681884765625f);
  const float gamma = call.real("gamma", 1.05070102214813232421875f);
  return apply_to_reals(call,
                        [=](auto x) { return gamma * reference::elu<decltype(x)>(x, alpha); });
}

constexpr AttributeSpec kAlpha[] = {{"alpha", AttributeKind::kFloat}};
constexpr AttributeSpec kAlphaBeta[] = {{"alpha", AttributeKind::kFloat},
                                        {"beta", AttributeKind::kFloat}};
constexpr AttributeSpec kAlphaGamma[] = {{"alpha", AttributeKind::kFloat},
                                         {"gamma", AttributeKind::kFloat}};

}  // namespace

std::span<const OperatorSpec> real_function_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"Ceil", 1, {}, {}, kReals, same_as_first, unary<UnaryKind::kCeil>},
      {"Elu", 1, {}, {}, kReals, same_as_first, elu, kAlpha},
      {"Erf", 9, {}, {}, kReals, same_as_first, unary<UnaryKind::kErf>},
      {"Exp", 1, {}, {}, kReals, same_as_first, unary<UnaryKind::kExp>},
      {"Floor", 1, {}, {}, kReals, same_as_first, unary<UnaryKind::kFloor>},
      {"HardSigmoid", 1, {}, {}, kReals, same_as_first, hard_sigmoid, kAlphaBeta},
      {"HardSwish", 1, {}, {}, kReals, same_as_first, hard_swish},
      {"LeakyRelu", 1, {}, {}, kReals, same_as_first, leaky_relu, kAlpha},
      {"Log", 1, {}, {}, kReals, same_as_first, unary<UnaryKind::kLog>},
      {"Mish", 18, {}, {}, kReals, same_as_first, mish},
      {"Reciprocal", 1, {}, {}, kReals, same_as_first, unary<UnaryKind::kReciprocal>},
      {"Round", 11, {}, {}, kReals, same_as_first, unary<UnaryKind::kRound>},
      {"Selu", 1, {}, {}, kReals, same_as_first, selu, kAlphaGamma},
      {"Sigmoid", 1, {}, {}, kReals, same_as_first, unary<UnaryKind::kSigmoid>},
      {"Softplus", 1, {}, {}, kReals, same_as_first, unary<UnaryKind::kSoftplus>},
      {"Sqrt", 1, {}, {}, kReals, same_as_first, unary<UnaryKind::kSqrt>},
      {"Tanh", 1, {}, {}, kReals, same_as_first, unary<UnaryKind::kTanh>},
  };
  return kOperators;
}

}  // namespace millrace::fallback
