// The scalar functions of elementwise operators and reductions, and the sums of products. Constant
// folding (lowering/evaluate) and the plain kernels (fallback) compute with these. Each is
// evaluated in the type of its arguments; integers wrap around, as in numpy. Thread-safe.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include "graph/operators.h"
#include "tensor/element.h"

namespace millrace::graph::reference {

// Integer arithmetic that wraps around; signed overflow is undefined in C++.
template <class T, class Operation>
T wrapping(T a, T b, Operation&& operation) {
  if constexpr (std::is_integral_v<T>) {
    // At least 32 bits, since narrower unsigned types would be promoted to int, whose products may
    // overflow.
    using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    return static_cast<T>(operation(static_cast<Wide>(a), static_cast<Wide>(b)));
  } else {
    return operation(a, b);
  }
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};
struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};

// Whether the integer division a / b traps: b is 0, or the quotient does not fit.
template <class T>
bool has_no_quotient(T a, T b) {
  if (b == 0) return true;
  if constexpr (std::is_signed_v<T>) return b == -1 && a == std::numeric_limits<T>::min();
  return false;
}

// Integer division truncates. The standard leaves division by zero undefined; here it gives 0, as
// in numpy, and a quotient that does not fit wraps around.
struct Div {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (has_no_quotient(a, b)) return b == 0 ? T{0} : a;
    }
    return static_cast<T>(a / b);
  }
};

// If an operand is NaN, so is the result, as in numpy. Of equal operands the first is returned,
// which the signs of zeros show; of two NaNs the second.
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return b < a || b != b ? b : a;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a < b || b != b ? b : a;
  }
};

// Powers of integers wrap around. Those with a negative exponent are truncated, so that only the
// bases 1 and -1 give something else than 0.
template <class T, class Exponent>
T integer_power(T base, Exponent exponent) {
  const bool is_odd = exponent % 2 != 0;
  if constexpr (std::is_signed_v<Exponent>) {
    if (exponent < 0) {
      if (base == T{1}) return base;
      if constexpr (std::is_signed_v<T>) {
        if (base == T{-1}) return is_odd ? base : T{1};
      }
      return T{0};
    }
  }
  T result = is_odd ? base : T{1};
  for (auto rest = static_cast<uint64_t>(exponent) / 2; rest != 0; rest /= 2) {
    base = Mul{}(base, base);
    if (rest % 2 != 0) result = Mul{}(result, base);
  }
  return result;
}

struct PRelu {
  template <class T>
  T operator()(T x, T slope) const {
    return x < T{0} ? Mul{}(x, slope) : x;
  }
};

struct Neg {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return Sub{}(T{0}, x);
    else
      return -x;
  }
};

struct Abs {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x < T{0} ? Neg{}(x) : x;
    else
      return std::fabs(x);
  }
};

struct Relu {
  template <class T>
  T operator()(T x) const {
    return x < T{0} ? T{0} : x;
  }
};

template <class T>
T leaky_relu(T x, T alpha) {
  return x < 0 ? alpha * x : x;
}

template <class T>
T elu(T x, T alpha) {
  return x < 0 ? alpha * std::expm1(x) : x;
}

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <class T>
T hard_sigmoid(T x, T alpha, T beta) {
  return std::clamp(alpha * x + beta, T{0}, T{1});
}

// The approximation of Gelu by tanh.
template <class T>
T gelu_by_tanh(T x) {
  const T scale = std::sqrt(2 * std::numbers::inv_pi_v<T>);
  return T{0.5} * x * (1 + std::tanh(scale * (x + static_cast<T>(0.044715) * x * x * x)));
}

// Computes log(1 + exp(x)) without overflow.
template <class T>
T softplus(T x) {
  return std::max(x, T{0}) + std::log1p(std::exp(-std::fabs(x)));
}

// Computes a Unary of floating-point values. Inlined, so that the switch disappears from loops of
// callers that know the kind at compile time.
template <class T>
[[gnu::always_inline]] inline T value_of(UnaryKind kind, T x, T alpha, T beta) {
  switch (kind) {
    case UnaryKind::kIdentity:
      return x;
    case UnaryKind::kRelu:
      return Relu{}(x);
    case UnaryKind::kClip:
      return x < alpha ? alpha : (x > beta ? beta : x);
    case UnaryKind::kLeakyRelu:
      return leaky_relu(x, alpha);
    case UnaryKind::kElu:
      return elu(x, alpha);
    case UnaryKind::kSigmoid:
      return sigmoid(x);
    case UnaryKind::kTanh:
      return std::tanh(x);
    case UnaryKind::kHardSigmoid:
      return hard_sigmoid(x, alpha, beta);
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
      return Abs{}(x);
    case UnaryKind::kNeg:
      return Neg{}(x);
    case UnaryKind::kErf:
      return std::erf(x);
    case UnaryKind::kRound:
      return tensor::round_to_even(x);
    case UnaryKind::kFloor:
      return std::floor(x);
    case UnaryKind::kCeil:
      return std::ceil(x);
    case UnaryKind::kReciprocal:
      return 1 / x;
    case UnaryKind::kSoftplus:
      return softplus(x);
    case UnaryKind::kPow:
      return std::pow(x, alpha);
    case UnaryKind::kLinear:
      return alpha * x + beta;
  }
  return x;
}

template <class T>
T value_of(const Activation& function, T x) {
  return value_of<T>(function.kind, x, function.alpha, function.beta);
}

// Like static_cast, but floating-point values beyond the range of an integer type saturate, and NaN
// becomes 0.
template <class To, class From>
To cast_to(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(x)) return To{0};
    // Compared in double, which represents the limits of 32-bit types exactly. The maxima of 64-bit
    // types round up to a power of two, from which on values have to saturate.
    const double wide = x;
    if (wide <= static_cast<double>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    if (wide >= static_cast<double>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
  }
  return static_cast<To>(x);
}

// The type in which elements of T are summed: double for floating-point types. Integers are summed
// in their own type and wrap around; for a mean, they are summed in 64 bits.
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;
template <class T>
using WideSum = std::conditional_t<std::is_floating_point_v<T>, double,
                                   std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <class T>
Sum<T> add_product(Sum<T> sum, Sum<T> a, Sum<T> b) {
  return Add{}(sum, Mul{}(a, b));
}

}  // namespace millrace::graph::reference
