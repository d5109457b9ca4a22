// millrace.NarrowCast: the Cast of the standard to one of the narrow types (narrow_types.h), of
// which the attribute `to` has the number. Integers keep their lower bits, as between wider integer
// types. The standard does not say how floating-point values become integers: they are rounded to
// the nearest, ties away from zero, as in ONNX Runtime, and saturate.
#include <algorithm>
#include <cmath>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "fallback/narrow_types.h"

namespace millrace::fallback {
namespace {

Status shape_of_narrow_cast(Inference& node) {
  const NarrowType* const type = narrow_type(node.integer("to"));
  if (type == nullptr) return invalid_argument("its attribute to is not a narrow type");
  if (type->number == kFloat8E8M0) return unsupported("casts to FLOAT8E8M0 are not supported");
  node.set(0, type->held, to_dims(node.in(0).dims));
  return {};
}

template <class T>
int narrow_integer(const NarrowType& type, T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<int>(value_of_code(type, static_cast<uint8_t>(x)));
  if (std::isnan(static_cast<double>(x))) return 0;
  return static_cast<int>(std::clamp(std::round(static_cast<double>(x)),
                                     static_cast<double>(type.lowest_integer()),
                                     static_cast<double>(type.greatest_integer())));
}

Status narrow_cast(const Call& call) {
  const NarrowType& type = *narrow_type(call.integer("to"));
  const bool saturate = call.integer("saturate", 1) != 0;
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    const auto x = call.in(0).as<decltype(zero)>();
    if (type.is_floating()) {
      const auto y = call.out(0).as<float>();
      for (size_t i = 0; i < y.size(); ++i)
        y[i] = nearest(type, static_cast<float>(x[i]), saturate);
    } else {
      const auto y = call.out(0).as<uint8_t>();
      for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<uint8_t>(narrow_integer(type, x[i]));
    }
    return {};
  });
}

constexpr AttributeSpec kNarrowCast[] = {{"saturate", AttributeKind::kInteger},
                                         {"to", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> narrow_cast_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"millrace.NarrowCast", 1, {}, {}, kAll, shape_of_narrow_cast, narrow_cast, kNarrowCast},
  };
  return kOperators;
}

}  // namespace millrace::fallback
