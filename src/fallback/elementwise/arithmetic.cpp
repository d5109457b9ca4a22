// Elementwise arithmetic with numpy broadcasting: Add, BitShift, BitwiseAnd, BitwiseOr, BitwiseXor,
// Clip, Div, Max, Mean, Min, Mod, Mul, PRelu, Pow, Sub, Sum. These kernels serve the types that the
// Binary operators of the graph do not support. Integers wrap around, as in numpy.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "fallback/broadcast.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

using reference::Add;
using reference::Div;
using reference::has_no_quotient;
using reference::Max;
using reference::Min;
using reference::Mul;
using reference::PRelu;
using reference::Sub;

// The remainder has the sign of the divisor, as in Python.
struct FloorModulo {
  template <class T>
  T operator()(T a, T b) const {
    if (has_no_quotient(a, b)) return 0;
    const T rest = static_cast<T>(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  }
};

// The remainder has the sign of the dividend, as in C.
struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return has_no_quotient(a, b) ? T{0} : static_cast<T>(a % b);
    else
      return std::fmod(a, b);
  }
};

struct BitAnd {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

// A shift by the width of the type or more gives 0.
struct ShiftLeft {
  template <class T>
  T operator()(T a, T b) const {
    return b < std::numeric_limits<T>::digits ? static_cast<T>(uint64_t{a} << b) : T{0};
  }
};
struct ShiftRight {
  template <class T>
  T operator()(T a, T b) const {
    return b < std::numeric_limits<T>::digits ? static_cast<T>(uint64_t{a} >> b) : T{0};
  }
};

template <class Function>
Status binary(const Call& call) {
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    apply_broadcast<T, T>(call.in(0), call.in(1), call.out(0).dims, call.out(0).as<T>().data(),
                          Function{});
    return {};
  });
}

template <class Function>
Status integer_binary(const Call& call) {
  return visit_integer(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    apply_broadcast<T, T>(call.in(0), call.in(1), call.out(0).dims, call.out(0).as<T>().data(),
                          Function{});
    return {};
  });
}

template <class Function>
Status unsigned_binary(const Call& call) {
  return visit_integer(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    if constexpr (std::is_unsigned_v<T>)
      apply_broadcast<T, T>(call.in(0), call.in(1), call.out(0).dims, call.out(0).as<T>().data(),
                            Function{});
    return {};
  });
}

// The standard defines the floor modulo for integers only.
Status shape_of_mod(Inference& node) {
  if (tensor::is_floating(node.in(0).type) && node.integer("fmod") == 0)
    return invalid_argument("floating-point operands need fmod=1");
  return broadcast_of_all(node);
}

Status mod(const Call& call) {
  return call.integer("fmod") != 0 ? binary<Remainder>(call) : integer_binary<FloorModulo>(call);
}

Status shape_of_shift(Inference& node) {
  const std::string direction = node.text("direction");
  if (direction != "LEFT" && direction != "RIGHT")
    return invalid_argument("direction must be LEFT or RIGHT");
  return broadcast_of_all(node);
}

Status shift(const Call& call) {
  return call.text("direction") == "LEFT" ? unsigned_binary<ShiftLeft>(call)
                                          : unsigned_binary<ShiftRight>(call);
}

template <class T, class Function>
void fold_operands(const Call& call, Function&& f) {
  const OutputView& out = call.out(0);
  const TensorView& first = call.in(0);
  apply_broadcast<T, T>(first, first, out.dims, out.as<T>().data(), [](T a, T) { return a; });
  for (size_t i = 1; i < call.input_count(); ++i) {
    const TensorView so_far{out.type, out.dims, out.data};
    apply_broadcast<T, T>(so_far, call.in(i), out.dims, out.as<T>().data(), f);
  }
}

template <class Function>
Status variadic(const Call& call) {
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    fold_operands<decltype(zero)>(call, Function{});
    return {};
  });
}

constexpr size_t kLow = 1, kHigh = 2;

Status shape_of_clip(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_one_type(node));
  for (const size_t bound : {kLow, kHigh})
    if (node.has(bound) && node.in(bound).elements() != 1)
      return invalid_argument("a bound must have exactly one element");
  return same_as_first(node);
}

// The upper bound is applied last, so it takes precedence if the bounds cross.
Status clip(const Call& call) {
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    std::ranges::copy(call.in(0).as<T>(), call.out(0).as<T>().begin());
    for (T& element : call.out(0).as<T>()) {
      if (call.has(kLow)) element = Max{}(element, call.in(kLow).as<T>()[0]);
      if (call.has(kHigh)) element = Min{}(element, call.in(kHigh).as<T>()[0]);
    }
    return {};
  });
}

// The slope is broadcast to the first operand, not the other way round.
Status shape_of_prelu(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(broadcast_of_all(node));
  MILLRACE_ASSIGN_OR_RETURN(const Dims dims, broadcast_dims(node));
  if (dims == to_dims(node.in(0).dims)) return {};
  return invalid_argument("the slope does not broadcast to the first operand");
}

Status mean(const Call& call) {
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    fold_operands<T>(call, Add{});
    for (T& element : call.out(0).as<T>()) element /= static_cast<T>(call.input_count());
    return {};
  });
}

Status shape_of_pow(Inference& node) {
  if (!kNumbers.contains(node.in(1).type))
    return invalid_argument("the exponent must have a numeric type");
  MILLRACE_ASSIGN_OR_RETURN(Dims dims, broadcast_dims(node));
  node.set(0, node.in(0).type, std::move(dims));
  return {};
}

struct Pow {
  template <class T, class U>
  T operator()(T base, U exponent) const {
    if constexpr (std::is_integral_v<T> && std::is_integral_v<U>)
      return reference::integer_power(base, exponent);
    const double power = std::pow(static_cast<double>(base), static_cast<double>(exponent));
    if constexpr (std::is_integral_v<T>) {
      // The standard leaves results that do not fit undefined; in C++, converting them would be
      // undefined behaviour.
      const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
      const bool fits = power > -limit - 1 && power < limit && (std::is_signed_v<T> || power > -1);
      return fits ? static_cast<T>(power) : T{0};
    } else {
      return static_cast<T>(power);
    }
  }
};

template <class Exponent>
Status raise_to(const Call& call, DataType type) {
  const TensorView& given = call.in(1);
  std::vector<Exponent> exponents;
  MILLRACE_RETURN_IF_ERROR(visit_element(given.type, [&](auto zero) -> Status {
    const auto elements = given.as<decltype(zero)>();
    exponents.assign(elements.begin(), elements.end());
    return {};
  }));
  const TensorView widened{type, given.dims, std::as_bytes(std::span(exponents)).data()};
  return visit_element(call.in(0).type, [&](auto base) -> Status {
    using T = decltype(base);
    apply_broadcast<T, Exponent>(call.in(0), widened, call.out(0).dims, call.out(0).as<T>().data(),
                                 Pow{});
    return {};
  });
}

// Exponents are widened to the largest type of their kind, which changes no result. Otherwise there
// would be a hundred kernels, one for each pair of types.
Status pow(const Call& call) {
  const DataType type = call.in(1).type;
  if (tensor::is_floating(type)) return raise_to<double>(call, DataType::kFloat64);
  return kUnsigned.contains(type) ? raise_to<uint64_t>(call, DataType::kUint64)
                                  : raise_to<int64_t>(call, DataType::kInt64);
}

constexpr AttributeSpec kModAttributes[] = {{"fmod", AttributeKind::kInteger}};
constexpr AttributeSpec kShiftAttributes[] = {{"direction", AttributeKind::kText}};

}  // namespace

std::span<const OperatorSpec> arithmetic_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"Add", 1, {2, 2}, {}, kNumbers, broadcast_of_all, binary<Add>},
      {"BitShift", 11, {2, 2}, {}, kUnsigned, shape_of_shift, shift, kShiftAttributes},
      {"BitwiseAnd", 18, {2, 2}, {}, kIntegers, broadcast_of_all, integer_binary<BitAnd>},
      {"BitwiseOr", 18, {2, 2}, {}, kIntegers, broadcast_of_all, integer_binary<BitOr>},
      {"BitwiseXor", 18, {2, 2}, {}, kIntegers, broadcast_of_all, integer_binary<BitXor>},
      {"Clip", 11, {1, 3}, {}, kNumbers, shape_of_clip, clip},
      {"Div", 1, {2, 2}, {}, kNumbers, broadcast_of_all, binary<Div>},
      {"Max", 1, {1, kAnyNumber}, {}, kNumbers, broadcast_of_all, variadic<Max>},
      {"Mean", 1, {1, kAnyNumber}, {}, kReals, broadcast_of_all, mean},
      {"Min", 1, {1, kAnyNumber}, {}, kNumbers, broadcast_of_all, variadic<Min>},
      {"Mod", 10, {2, 2}, {}, kNumbers, shape_of_mod, mod, kModAttributes},
      {"Mul", 1, {2, 2}, {}, kNumbers, broadcast_of_all, binary<Mul>},
      {"PRelu", 1, {2, 2}, {}, kNumbers, shape_of_prelu, binary<PRelu>},
      {"Pow", 1, {2, 2}, {}, kNumbers, shape_of_pow, pow},
      {"Sub", 1, {2, 2}, {}, kNumbers, broadcast_of_all, binary<Sub>},
      {"Sum", 1, {1, kAnyNumber}, {}, kNumbers, broadcast_of_all, variadic<Add>},
  };
  return kOperators;
}

}  // namespace millrace::fallback
