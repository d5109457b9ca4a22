// Elementwise functions, reductions and casts. Each operator is a template over the element type,
// which visit_element() selects. 16-bit floating-point elements occur in casts only, where they are
// widened to float first.
#include "lowering/evaluate/evaluate_math.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "graph/reference/functions.h"
#include "graph/reference/index_offsets.h"
#include "tensor/element.h"
#include "tensor/half.h"

namespace millrace::lowering {
namespace {

namespace reference = graph::reference;
using graph::BinaryKind;
using graph::Dims;
using graph::ReduceKind;
using graph::UnaryKind;
using graph::Value;
using tensor::DataType;

template <class T>
T power(T base, T exponent) {
  if constexpr (std::is_floating_point_v<T>)
    return std::pow(base, exponent);
  else
    return reference::integer_power(base, exponent);
}

// The operands of a minimum or maximum are exchanged: of equal zeros the second is the result, and
// of two NaNs the first.
template <class T>
T apply_binary(BinaryKind kind, T a, T b) {
  switch (kind) {
    case BinaryKind::kAdd:
      return reference::Add{}(a, b);
    case BinaryKind::kSub:
      return reference::Sub{}(a, b);
    case BinaryKind::kMul:
      return reference::Mul{}(a, b);
    case BinaryKind::kDiv:
      return reference::Div{}(a, b);
    case BinaryKind::kPow:
      return power(a, b);
    case BinaryKind::kMin:
      return reference::Min{}(b, a);
    case BinaryKind::kMax:
      return reference::Max{}(b, a);
    case BinaryKind::kPrelu:
      return reference::PRelu{}(a, b);
  }
  return T{};
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
      return each(reference::Relu{});
    case UnaryKind::kNeg:
      return each(reference::Neg{});
    case UnaryKind::kAbs:
      return each(reference::Abs{});
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
    std::ranges::transform(in, output.as<To>().begin(), reference::cast_to<To, From>);
    return {};
  });
}

template <class A>
A combine(ReduceKind kind, A a, A b) {
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kMean:
      return reference::Add{}(a, b);
    case ReduceKind::kProd:
      return reference::Mul{}(a, b);
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
  std::vector<reference::WideSum<T>> sums(out.size());
  std::vector<bool> started(out.size(), false);
  // The output, broadcast to the shape of the input, has for each input element the index of the
  // output element to which it contributes.
  reference::for_each_offset(reference::broadcast_offsets(kept, input.shape),
                             [&](size_t position, int64_t offset) {
                               const auto index = static_cast<size_t>(offset);
                               const auto x = static_cast<reference::WideSum<T>>(in[position]);
                               sums[index] = started[index] ? combine(op.kind, sums[index], x) : x;
                               started[index] = true;
                             });
  const auto count = static_cast<reference::WideSum<T>>(in.size() / out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<T>(op.kind == ReduceKind::kMean ? sums[i] / count : sums[i]);
  }
  return {};
}

}  // namespace

Status evaluate_unary(const graph::Unary& op, const Value& input, const MutableConstant& output) {
  return visit_element(input.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto in = input.constant->as<T>();
    if constexpr (std::is_floating_point_v<T>) {
      std::ranges::transform(in, output.as<T>().begin(),
                             [&](T x) { return reference::value_of(op.function, x); });
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
    reference::for_each_offset(
        reference::broadcast_offsets(a.shape, shape),
        [&](size_t position, int64_t offset) { out[position] = left[offset]; });
    reference::for_each_offset(
        reference::broadcast_offsets(b.shape, shape), [&](size_t position, int64_t offset) {
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
