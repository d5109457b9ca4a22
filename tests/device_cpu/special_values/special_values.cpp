#include "tests/device_cpu/special_values/special_values.h"

#include <gtest/gtest.h>

#include <cmath>

namespace millrace::device::cpu {

using graph::Activation;
using graph::Dims;
using graph::UnaryKind;

std::string class_of(float x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return "finite";
}

void expect_classes(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.dims, expected.dims);
  for (size_t i = 0; i < expected.data.size(); ++i)
    ASSERT_EQ(class_of(actual.data[i]), class_of(expected.data[i]))
        << "element " << i << ": " << actual.data[i] << " instead of " << expected.data[i];
}

Tensor image_with(const Dims& dims, const Dims& at, float value) {
  Tensor x = Tensor::numbers(dims, 1);
  x.at(at) = value;
  return x;
}

float expected_unary(const Activation& function, float x) {
  const float a = function.alpha, b = function.beta;
  const auto clamp = [](float v, float low, float high) {
    return std::isnan(v) ? v : std::fmin(std::fmax(v, low), high);
  };
  switch (function.kind) {
    case UnaryKind::kIdentity:
      return x;
    case UnaryKind::kRelu:
      return clamp(x, 0, kInf);
    case UnaryKind::kClip:
      return clamp(x, a, b);
    case UnaryKind::kLeakyRelu:
      return x < 0 ? a * x : x;
    case UnaryKind::kElu:
      return x < 0 ? a * std::expm1(x) : x;
    case UnaryKind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case UnaryKind::kTanh:
      return std::tanh(x);
    case UnaryKind::kHardSigmoid:
      return clamp(a * x + b, 0, 1);
    case UnaryKind::kHardSwish:
      return x * clamp(x / 6 + 0.5f, 0, 1);
    case UnaryKind::kSwish:
      return x * (1 / (1 + std::exp(-x)));
    case UnaryKind::kGelu:
      return 0.5f * x * (1 + std::erf(x / std::sqrt(2.0f)));
    case UnaryKind::kExp:
      return std::exp(x);
    case UnaryKind::kLog:
      return std::log(x);
    case UnaryKind::kSqrt:
      return std::sqrt(x);
    case UnaryKind::kAbs:
      return std::fabs(x);
    case UnaryKind::kNeg:
      return -x;
    case UnaryKind::kErf:
      return std::erf(x);
    case UnaryKind::kRound:
      return std::nearbyint(x);
    case UnaryKind::kFloor:
      return std::floor(x);
    case UnaryKind::kCeil:
      return std::ceil(x);
    case UnaryKind::kReciprocal:
      return 1 / x;
    case UnaryKind::kSoftplus:
      return std::fmax(x, 0.0f) + std::log1p(std::exp(-std::fabs(x)));
    case UnaryKind::kPow:
      return std::pow(x, a);
    case UnaryKind::kLinear:
      return a * x + b;
  }
  return x;
}

}  // namespace millrace::device::cpu
