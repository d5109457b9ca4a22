// Elementwise functions of one operand: trigonometric and hyperbolic functions, activations (Celu,
// Gelu, Relu, Shrink, Softsign, Swish, ThresholdedRelu, QuickGelu), and Abs, BitwiseNot, Neg, Sign.
// real_function.cpp has those that the Unary of the graph computes for all types but FLOAT64.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/elementwise/apply.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

// Defines a kernel for the function of that name in the C++ standard library, which has an overload
// for each floating-point type.
#define MILLRACE_FUNCTION(function)                                       \
  Status run_##function(const Call& call) {                               \
    return apply_to_reals(call, [](auto x) { return std::function(x); }); \
  }
MILLRACE_FUNCTION(acos)
MILLRACE_FUNCTION(acosh)
MILLRACE_FUNCTION(asin)
MILLRACE_FUNCTION(asinh)
MILLRACE_FUNCTION(atan)
MILLRACE_FUNCTION(atanh)
MILLRACE_FUNCTION(cos)
MILLRACE_FUNCTION(cosh)
MILLRACE_FUNCTION(sin)
MILLRACE_FUNCTION(sinh)
MILLRACE_FUNCTION(tan)
#undef MILLRACE_FUNCTION

Status softsign(const Call& call) {
  return apply_to_reals(call, [](auto x) { return x / (1 + std::fabs(x)); });
}

Status thresholded_relu(const Call& call) {
  const float alpha = call.real("alpha", 1);
  return apply_to_reals(call, [alpha](auto x) { return x > alpha ? x : decltype(x){0}; });
}

Status celu(const Call& call) {
  const float alpha = call.real("alpha", 1);
  return apply_to_reals(call, [alpha](auto x) {
    using T = decltype(x);
    return std::max(x, T{0}) + std::min(T{0}, static_cast<T>(alpha * std::expm1(x / alpha)));
  });
}

Status gelu_by_tanh(const Call& call) {
  return apply_to_reals(call, [](auto x) { return reference::gelu_by_tanh(x); });
}

Status gelu_by_erf(const Call& call) {
  return apply_to_reals(call, [](auto x) {
    using T = decltype(x);
    return T{0.5} * x * (1 + std::erf(x / std::numbers::sqrt2_v<T>));
  });
}

Status shape_of_gelu(Inference& node) {
  const std::string approximation = node.text("approximate", "none");
  if (approximation != "none" && approximation != "tanh")
    return invalid_argument("approximate must be none or tanh");
  return same_as_first(node);
}

Status gelu(const Call& call) {
  return call.text("approximate", "none") == "tanh" ? gelu_by_tanh(call) : gelu_by_erf(call);
}

// Computes x * sigmoid(alpha * x).
Status gate_by_sigmoid(const Call& call, float alpha) {
  return apply_to_reals(call, [alpha](auto x) { return x / (1 + std::exp(-alpha * x)); });
}

Status swish(const Call& call) {
  return gate_by_sigmoid(call, call.real("alpha", 1));
}

Status quick_gelu(const Call& call) {
  return gate_by_sigmoid(call, call.real("alpha", 1.702f));
}

Status shrink(const Call& call) {
  const double bias = call.real("bias", 0), lambda = call.real("lambd", 0.5f);
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto x = call.in(0).as<T>();
    const auto y = call.out(0).as<T>();
    for (size_t i = 0; i < y.size(); ++i) {
      const auto value = static_cast<double>(x[i]);
      y[i] = reference::cast_to<T>(value < -lambda  ? value + bias
                                   : value > lambda ? value - bias
                                                    : 0);
    }
    return {};
  });
}

// The sign of NaN is NaN.
struct Sign {
  template <class T>
  T operator()(T x) const {
    return x == x ? static_cast<T>((x > T{0} ? 1 : 0) - (x < T{0} ? 1 : 0)) : x;
  }
};

// Computes y[i] = Function{}(x[i]) for elements of any type.
template <class Function>
Status map(const Call& call) {
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto x = call.in(0).as<T>();
    const auto y = call.out(0).as<T>();
    for (size_t i = 0; i < y.size(); ++i) y[i] = Function{}(x[i]);
    return {};
  });
}

Status bitwise_not(const Call& call) {
  return visit_integer(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto x = call.in(0).as<T>();
    const auto y = call.out(0).as<T>();
    for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<T>(~x[i]);
    return {};
  });
}

constexpr AttributeSpec kAlpha[] = {{"alpha", AttributeKind::kFloat}};
constexpr AttributeSpec kGelu[] = {{"approximate", AttributeKind::kText}};
constexpr AttributeSpec kShrink[] = {{"bias", AttributeKind::kFloat},
                                     {"lambd", AttributeKind::kFloat}};

constexpr TypeSet kShrinkTypes =
    kReals | TypeSet{DataType::kInt8,   DataType::kUint8, DataType::kInt16,
                     DataType::kUint16, DataType::kInt32, DataType::kUint32};

}  // namespace

std::span<const OperatorSpec> function_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"Abs", 1, {}, {}, kNumbers, same_as_first, map<reference::Abs>},
      {"Acos", 7, {}, {}, kReals, same_as_first, run_acos},
      {"Acosh", 9, {}, {}, kReals, same_as_first, run_acosh},
      {"Asin", 7, {}, {}, kReals, same_as_first, run_asin},
      {"Asinh", 9, {}, {}, kReals, same_as_first, run_asinh},
      {"Atan", 7, {}, {}, kReals, same_as_first, run_atan},
      {"Atanh", 9, {}, {}, kReals, same_as_first, run_atanh},
      {"BitwiseNot", 18, {}, {}, kIntegers, same_as_first, bitwise_not},
      {"Celu", 12, {}, {}, kReals, same_as_first, celu, kAlpha},
      {"Cos", 7, {}, {}, kReals, same_as_first, run_cos},
      {"Cosh", 9, {}, {}, kReals, same_as_first, run_cosh},
      {"Gelu", 20, {}, {}, kReals, shape_of_gelu, gelu, kGelu},
      {"Neg", 1, {}, {}, kSigned | kReals, same_as_first, map<reference::Neg>},
      {"Relu", 1, {}, {}, kNumbers, same_as_first, map<reference::Relu>},
      {"Shrink", 9, {}, {}, kShrinkTypes, same_as_first, shrink, kShrink},
      {"Sign", 9, {}, {}, kNumbers, same_as_first, map<Sign>},
      {"Sin", 7, {}, {}, kReals, same_as_first, run_sin},
      {"Sinh", 9, {}, {}, kReals, same_as_first, run_sinh},
      {"Softsign", 1, {}, {}, kReals, same_as_first, softsign},
      {"Swish", 24, {}, {}, kReals, same_as_first, swish, kAlpha},
      {"Tan", 7, {}, {}, kReals, same_as_first, run_tan},
      {"ThresholdedRelu", 10, {}, {}, kReals, same_as_first, thresholded_relu, kAlpha},
      {"com.microsoft.Gelu", 1, {}, {}, kReals, same_as_first, gelu_by_erf},
      {"com.microsoft.QuickGelu", 1, {}, {}, kReals, same_as_first, quick_gelu, kAlpha},
  };
  return kOperators;
}

}  // namespace millrace::fallback
