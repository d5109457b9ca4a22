// SimplifiedLayerNormalization, which exporters write in the domain of the standard: it divides
// elements by their root mean square and multiplies them by a scale.
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "fallback/layers/root_mean_square.h"

namespace millrace::fallback {
namespace {

// The scale has the shape of a group: the dimensions from `axis` on.
Status shape_of_simplified_norm(Inference& node) {
  const TensorView &x = node.in(0), &scale = node.in(1);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            graph::normalise_axis(node.integer("axis", -1), x.rank()));
  if (scale.type != x.type || to_dims(scale.dims) != to_dims(x.dims.subspan(axis)))
    return invalid_argument(
        "its scale must have the type of the input and its dimensions from axis on");
  if (scale.elements() == 0 && node.output_count() > 1)
    return invalid_argument("its input is empty, so it has no mean square");
  Dims statistics = to_dims(x.dims);
  std::fill(statistics.begin() + static_cast<ptrdiff_t>(axis), statistics.end(), 1);
  node.set(0, x.type, to_dims(x.dims));
  node.set(1, DataType::kFloat32, std::move(statistics));
  return {};
}

Status simplified_norm(const Call& call) {
  const TensorView& x = call.in(0);
  const size_t size = call.in(1).elements(), groups = size == 0 ? 0 : x.elements() / size;
  const double epsilon = call.real("epsilon", 1e-5f);
  return visit_floating(x.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto scale = call.in(1).as<T>();
    for (size_t g = 0; g < groups; ++g) {
      const auto from = x.as<T>().subspan(g * size, size);
      const auto to = call.out(0).as<T>().subspan(g * size, size);
      const double inverse = inverse_root_mean_square(from, epsilon);
      for (size_t i = 0; i < size; ++i) to[i] = static_cast<T>(from[i] * inverse * scale[i]);
      if (call.output_count() > 1) call.out(1).as<float>()[g] = static_cast<float>(inverse);
    }
    return {};
  });
}

constexpr AttributeSpec kAttributes[] = {{"axis", AttributeKind::kInteger},
                                         {"epsilon", AttributeKind::kFloat},
                                         {"stash_type", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> simplified_norm_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"SimplifiedLayerNormalization",
       1,
       {2, 2},
       {1, 2},
       kFloats,
       shape_of_simplified_norm,
       simplified_norm,
       kAttributes},
  };
  return kOperators;
}

}  // namespace millrace::fallback
