// Elementwise functions, reductions and casts. Each operator is a template over the element type,
// which visit_element() selects. 16-bit floating-point elements occur in casts only, where they are
// widened to float first.
#include "lowering/evaluate/evaluate_math.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "tensor/element.h"
#include "tensor/half.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using graph::ReduceKind;
using graph::UnaryKind;
using graph::Value;
using tensor::DataType;

// Integer arithmetic wraps around, as at run time. It is done in uint64_t, since the overflow of
// signed integers is undefined.
template <class T>
T wrapping_pow(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) return base == 1 ? T{1} : T{0};
  }
  uint64_t result = 1;
  auto factor = static_cast<uint64_t>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if (rest & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

template <class T>
T wrapping_div(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
  }
  return static_cast<T>(a / b);
}

template <class T>
T apply_to_integers(BinaryKind kind, T a, T b) {
  const auto wide_a = static_cast<uint64_t>(a);
  const auto wide_b = static_cast<uint64_t>(b);
  switch (kind) {
    case BinaryKind::kAdd:
      return static_cast<T>(wide_a + wide_b);
    case BinaryKind::kSub:
      return static_cast<T>(wide_a - wide_b);
    case BinaryKind::kMul:
      return static_cast<T>(wide_a * wide_b);
    case BinaryKind::kDiv:
      return wrapping_div(a, b);
    case BinaryKind::kPow:
      return wrapping_pow(a, b);
    case BinaryKind::kMin:
      return std::min(a, b);
    case BinaryKind::kMax:
      return std::max(a, b);
    case BinaryKind::kPrelu:
      return a < T{0} ? static_cast<T>(wide_a * wide_b) : a;
  }
  return T{};
}

// NaN in either operand gives NaN, as the numpy functions do.
template <class T>
T min_or_nan(T a, T b) {
  return std::isnan(a) || a < b ? a : b;
}
template <class T>
T max_or_nan(T a, T b) {
  return std::isnan(a) || a > b ? a : b;
}

template <class T>
T apply_to_reals(BinaryKind kind, T a, T b) {
  switch (kind) {
    case BinaryKind::kAdd:
      return a + b;
    case BinaryKind::kSub:
      return a - b;
    case BinaryKind::kMul:
      return a * b;
    case BinaryKind::kDiv:
      return a / b;
    case BinaryKind::kPow:
      return std::pow(a, b);
    case BinaryKind::kMin:
      return min_or_nan(a, b);
    case BinaryKind::kMax:
      return max_or_nan(a, b);
    case BinaryKind::kPrelu:
      return a < 0 ? a * b : a;
  }
  return 0;
}

template <class T>
T apply_binary(BinaryKind kind, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return apply_to_reals(kind, a, b);
  else
    return apply_to_integers(kind, a, b);
}

template <class T>
Status apply_unary_to_integers(const graph::Activation& function, std::span<const T> in,
                               std::span<T> out) {
  const auto each = [&](auto&& f) -> Status {
    std::ranges::transform(in, out.begin(), f);
    return {};
  };
  switch (function.kind) {
    case UnaryKind::kIdentity:
      return each([](T x) { return x; });
    case UnaryKind::kRelu:
      return each([](T x) { return std::max(x, T{0}); });
    case UnaryKind::kNeg:
      return each([](T x) { return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x)); });
    case UnaryKind::kAbs:
      return each([](T x) {
        return x < T{0} ? static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x)) : x;
      });
    default:
      return unsupported(
          fmt::format("{} is not computed on integer constants", graph::name_of(function.kind)));
  }
}

// Returns a BF16 or FP16 constant as FLOAT32.
Result<Value> widened(const Value& input) {
  MILLRACE_ASSIGN_OR_RETURN(MutableConstant wide, make_constant(DataType::kFloat32, input.shape));
  const auto widen = input.type == DataType::kBf16 ? tensor::bf16_to_float : tensor::fp16_to_float;
  std::ranges::transform(input.constant->as<uint16_t>(), wide.as<float>().begin(), widen);
  return std::move(wide.value);
}

bool is_half(DataType type) {
  return type == DataType::kBf16 || type == DataType::kFp16;
}

template <class From>
Status cast_from(std::span<const From> in, const MutableConstant& output) {
  if (is_half(output.value.type)) {
    using Real = std::conditional_t<std::is_same_v<From, double>, double, float>;
    const bool is_bf16 = output.value.type == DataType::kBf16;
    std::ranges::transform(in, output.as<uint16_t>().begin(), [&](From x) {
      const auto real = static_cast<Real>(x);
      return is_bf16 ? tensor::narrow<DataType::kBf16>(real, false)
                     : tensor::narrow<DataType::kFp16>(real, false);
    });
    return {};
  }
  if (output.value.type == DataType::kBoolean) {
    std::ranges::transform(in, output.as<uint8_t>().begin(),
                           [](From x) { return static_cast<uint8_t>(x != From{0}); });
    return {};
  }
  return visit_element(output.value.type, [&](auto zero) -> Status {
    using To = decltype(zero);
    std::ranges::transform(in, output.as<To>().begin(), saturating_cast<To, From>);
    return {};
  });
}

// The accumulator of an element type: double for floating-point sums, 64 bits (modulo 2^64) for
// integers.
template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double,
                                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <class A>
A combine(ReduceKind kind, A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    if (kind == ReduceKind::kProd) return apply_binary(BinaryKind::kMul, a, b);
    if (kind == ReduceKind::kSum || kind == ReduceKind::kMean) {
      return apply_binary(BinaryKind::kAdd, a, b);
    }
  }
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kMean:
      return a + b;
    case ReduceKind::kProd:
      return a * b;
    case ReduceKind::kMax:
      return apply_binary(BinaryKind::kMax, a, b);
    case ReduceKind::kMin:
      return apply_binary(BinaryKind::kMin, a, b);
  }
  return a;
}

template <class T>
Status reduce_elements(const graph::Reduce& op, const Value& input, const MutableConstant& output) {
  Dims kept = input.shape;
  for (const int64_t axis : op.axes) kept[static_cast<size_t>(axis)] = 1;
  const auto in = input.constant->as<T>();
  const auto out = output.as<T>();
  std::vector<Accumulator<T>> sums(out.size());
  std::vector<bool> started(out.size(), false);
  // The output, broadcast to the shape of the input, has for each input element the index of the
  // output element to which it contributes.
  for_each_offset(broadcast_offsets(kept, input.shape), [&](size_t position, int64_t offset) {
    const auto index = static_cast<size_t>(offset);
    const auto x = static_cast<Accumulator<T>>(in[position]);
    sums[index] = started[index] ? combine(op.kind, sums[index], x) : x;
    started[index] = true;
  });
  const auto count = static_cast<Accumulator<T>>(in.size() / out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<T>(op.kind == ReduceKind::kMean ? sums[i] / count : sums[i]);
  }
  return {};
}

}  // namespace

template <class T>
T apply(const graph::Activation& function, T x) noexcept {
  const T alpha = function.alpha;
  const T beta = function.beta;
  const auto sigmoid = [](T v) { return T{1} / (T{1} + std::exp(-v)); };
  switch (function.kind) {
    case UnaryKind::kIdentity:
      return x;
    case UnaryKind::kRelu:
      return x < 0 ? 0 : x;
    case UnaryKind::kClip:
      return x < alpha ? alpha : (x > beta ? beta : x);
    case UnaryKind::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case UnaryKind::kElu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case UnaryKind::kSigmoid:
      return sigmoid(x);
    case UnaryKind::kTanh:
      return std::tanh(x);
    case UnaryKind::kHardSigmoid:
      return std::clamp(alpha * x + beta, T{0}, T{1});
    case UnaryKind::kHardSwish:
      return x * std::clamp(x / 6 + T{0.5}, T{0}, T{1});
    case UnaryKind::kSwish:
      return x * sigmoid(x);
    case UnaryKind::kGelu:
      return T{0.5} * x * (1 + std::erf(x * (std::numbers::sqrt2_v<T> / 2)));
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
      return std::max(x, T{0}) + std::log1p(std::exp(-std::fabs(x)));
    case UnaryKind::kPow:
      return std::pow(x, alpha);
    case UnaryKind::kLinear:
      return alpha * x + beta;
  }
  return x;
}
template float apply(const graph::Activation& function, float x) noexcept;
template double apply(const graph::Activation& function, double x) noexcept;

double result_of(const graph::Activation& function, double x) noexcept {
  return apply(function, x);
}

Status evaluate_unary(const graph::Unary& op, const Value& input, const MutableConstant& output) {
  return visit_element(input.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto in = input.constant->as<T>();
    if constexpr (std::is_floating_point_v<T>) {
      std::ranges::transform(in, output.as<T>().begin(),
                             [&](T x) { return apply(op.function, x); });
      return {};
    } else {
      return apply_unary_to_integers(op.function, in, output.as<T>());
    }
  });
}

Status evaluate_binary(const graph::Binary& op, const Value& a, const Value& b,
                       const MutableConstant& output) {
  return visit_element(a.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto left = a.constant->as<T>();
    const auto right = b.constant->as<T>();
    const auto out = output.as<T>();
    if (std::is_integral_v<T> && op.kind == BinaryKind::kDiv && std::ranges::count(right, T{0})) {
      return invalid_argument("division of integers by zero");
    }
    const Dims& shape = output.value.shape;
    for_each_offset(broadcast_offsets(a.shape, shape),
                    [&](size_t position, int64_t offset) { out[position] = left[offset]; });
    for_each_offset(broadcast_offsets(b.shape, shape), [&](size_t position, int64_t offset) {
      out[position] = apply_binary(op.kind, out[position], right[offset]);
    });
    return {};
  });
}

Status evaluate_reduce(const graph::Reduce& op, const Value& input, const MutableConstant& output) {
  if (input.elements() == 0) return unsupported("a reduction of an empty tensor is not computed");
  return visit_element(input.type, [&](auto zero) -> Status {
    return reduce_elements<decltype(zero)>(op, input, output);
  });
}

Status evaluate_cast(const Value& input, const MutableConstant& output) {
  if (is_half(input.type)) {
    MILLRACE_ASSIGN_OR_RETURN(const Value wide, widened(input));
    return cast_from(wide.constant->as<float>(), output);
  }
  return visit_element(input.type, [&](auto zero) -> Status {
    return cast_from(input.constant->as<decltype(zero)>(), output);
  });
}

}  // namespace millrace::lowering
