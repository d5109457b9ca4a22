// CastLike: converts to the element type of the second operand.
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

template <class From, class To>
void cast_elements(const TensorView& x, const OutputView& y) {
  const auto from = x.as<From>();
  const auto to = y.as<To>();
  const bool either_boolean = x.type == DataType::kBoolean || y.type == DataType::kBoolean;
  for (size_t i = 0; i < to.size(); ++i) {
    // If either type is BOOLEAN, the result is whether the element differs from 0.
    to[i] = either_boolean ? static_cast<To>(from[i] != From{0}) : reference::cast_to<To>(from[i]);
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
