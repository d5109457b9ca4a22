// CastLike: converts to the element type of the second operand.
#include <limits>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

Status shape_of_cast_like(Inference& node) {
  if (!kAll.contains(node.in(1).type)) return unsupported("casts to this type are not supported");
  node.set(0, node.in(1).type, to_dims(node.in(0).dims));
  return {};
}

// Floating-point values are truncated and saturated to the range of an integer type, and NaN
// becomes 0. Integers keep their low bits.
template <class To, class From>
To cast(From from) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    // The first value beyond the range, a power of two, is exact in every floating-point type.
    const From end = static_cast<From>(uint64_t{1} << (std::numeric_limits<To>::digits - 1)) * 2;
    const From begin = std::is_signed_v<To> ? -end : From{0};
    if (from != from) return 0;
    if (from >= end) return std::numeric_limits<To>::max();
    if (from <= begin) return std::numeric_limits<To>::min();
  }
  return static_cast<To>(from);
}

template <class From, class To>
void cast_elements(const TensorView& x, const OutputView& y) {
  const auto from = x.as<From>();
  const auto to = y.as<To>();
  const bool either_boolean = x.type == DataType::kBoolean || y.type == DataType::kBoolean;
  for (size_t i = 0; i < to.size(); ++i) {
    // If either type is BOOLEAN, the result is whether the element differs from 0.
    to[i] = either_boolean ? static_cast<To>(from[i] != From{0}) : cast<To>(from[i]);
  }
}

Status cast_like(const Call& call) {
  return visit_element(call.in(0).type, [&](auto from) {
    return visit_element(call.out(0).type, [&](auto to) -> Status {
      cast_elements<decltype(from), decltype(to)>(call.in(0), call.out(0));
      return {};
    });
  });
}

constexpr AttributeSpec kAttributes[] = {{"round_mode", AttributeKind::kText},
                                         {"saturate", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> cast_like_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"CastLike", 15, {2, 2}, {}, kAll, shape_of_cast_like, cast_like, kAttributes},
  };
  return kOperators;
}

}  // namespace millrace::fallback
