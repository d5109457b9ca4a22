// Elementwise functions that the Unary of the graph computes for all floating-point types but
// FLOAT64, such as Exp, Sigmoid, HardSwish and Softplus, and Mish and Selu. These kernels support
// FLOAT32 and FLOAT64.
#include <algorithm>
#include <cmath>

#include "fallback/common_shapes.h"
#include "fallback/elementwise/apply.h"
#include "fallback/families.h"
#include "tensor/element.h"

namespace millrace::fallback {
namespace {

// Defines a kernel for the function of that name in the C++ standard library, which has an overload
// for each floating-point type.
#define MILLRACE_FUNCTION(function)                                       \
  Status run_##function(const Call& call) {                               \
    return apply_to_reals(call, [](auto x) { return std::function(x); }); \
  }
MILLRACE_FUNCTION(ceil)
MILLRACE_FUNCTION(erf)
MILLRACE_FUNCTION(exp)
MILLRACE_FUNCTION(floor)
MILLRACE_FUNCTION(log)
MILLRACE_FUNCTION(sqrt)
MILLRACE_FUNCTION(tanh)
#undef MILLRACE_FUNCTION

Status round(const Call& call) {
  return apply_to_reals(call, [](auto x) { return tensor::round_to_even(x); });
}

Status reciprocal(const Call& call) {
  return apply_to_reals(call, [](auto x) { return 1 / x; });
}

Status sigmoid(const Call& call) {
  return apply_to_reals(call, [](auto x) { return 1 / (1 + std::exp(-x)); });
}

// Computes log(1 + exp(x)) without overflow.
template <class T>
T softplus_of(T x) {
  return std::max(x, T{0}) + std::log1p(std::exp(-std::fabs(x)));
}

Status softplus(const Call& call) {
  return apply_to_reals(call, [](auto x) { return softplus_of(x); });
}

Status mish(const Call& call) {
  return apply_to_reals(call, [](auto x) { return x * std::tanh(softplus_of(x)); });
}

template <class T>
T hard_sigmoid_of(T x, T alpha, T beta) {
  return std::clamp(alpha * x + beta, T{0}, T{1});
}

Status hard_sigmoid(const Call& call) {
  const float alpha = call.real("alpha", 0.2f), beta = call.real("beta", 0.5f);
  return apply_to_reals(call, [=](auto x) { return hard_sigmoid_of<decltype(x)>(x, alpha, beta); });
}

Status hard_swish(const Call& call) {
  return apply_to_reals(call, [](auto x) {
    using T = decltype(x);
    return x * hard_sigmoid_of<T>(x, T{1} / 6, T{0.5});
  });
}

Status leaky_relu(const Call& call) {
  const float alpha = call.real("alpha", 0.01f);
  return apply_to_reals(call, [alpha](auto x) { return x < 0 ? alpha * x : x; });
}

Status elu(const Call& call) {
  const float alpha = call.real("alpha", 1);
  return apply_to_reals(call, [alpha](auto x) { return x < 0 ? alpha * std::expm1(x) : x; });
}

Status selu(const Call& call) {
  const float alpha = call.real("alpha", 1.67326319217681884765625f);
  const float gamma = call.real("gamma", 1.05070102214813232421875f);
  return apply_to_reals(call, [=](auto x) { return gamma * (x < 0 ? alpha * std::expm1(x) : x); });
}

constexpr AttributeSpec kAlpha[] = {{"alpha", AttributeKind::kFloat}};
constexpr AttributeSpec kAlphaBeta[] = {{"alpha", AttributeKind::kFloat},
                                        {"beta", AttributeKind::kFloat}};
constexpr AttributeSpec kAlphaGamma[] = {{"alpha", AttributeKind::kFloat},
                                         {"gamma", AttributeKind::kFloat}};

}  // namespace

std::span<const OperatorSpec> real_function_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"Ceil", 1, {}, {}, kReals, same_as_first, run_ceil},
      {"Elu", 1, {}, {}, kReals, same_as_first, elu, kAlpha},
      {"Erf", 9, {}, {}, kReals, same_as_first, run_erf},
      {"Exp", 1, {}, {}, kReals, same_as_first, run_exp},
      {"Floor", 1, {}, {}, kReals, same_as_first, run_floor},
      {"HardSigmoid", 1, {}, {}, kReals, same_as_first, hard_sigmoid, kAlphaBeta},
      {"HardSwish", 14, {}, {}, kReals, same_as_first, hard_swish},
      {"LeakyRelu", 1, {}, {}, kReals, same_as_first, leaky_relu, kAlpha},
      {"Log", 1, {}, {}, kReals, same_as_first, run_log},
      {"Mish", 18, {}, {}, kReals, same_as_first, mish},
      {"Reciprocal", 1, {}, {}, kReals, same_as_first, reciprocal},
      {"Round", 11, {}, {}, kReals, same_as_first, round},
      {"Selu", 1, {}, {}, kReals, same_as_first, selu, kAlphaGamma},
      {"Sigmoid", 1, {}, {}, kReals, same_as_first, sigmoid},
      {"Softplus", 1, {}, {}, kReals, same_as_first, softplus},
      {"Sqrt", 1, {}, {}, kReals, same_as_first, run_sqrt},
      {"Tanh", 1, {}, {}, kReals, same_as_first, run_tanh},
  };
  return kOperators;
}

}  // namespace millrace::fallback
