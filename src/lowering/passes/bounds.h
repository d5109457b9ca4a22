// The bounds of Relu and Clip, for passes that treat both alike.
#pragma once

#include <limits>
#include <optional>

#include "graph/operators.h"

namespace millrace::lowering {

struct Bounds {
  float low, high;
};

// The bounds of a Relu or Clip; nothing for other functions.
inline std::optional<Bounds> bounds_of(const graph::Activation& function) {
  if (function.kind == graph::UnaryKind::kRelu)
    return Bounds{0, std::numeric_limits<float>::infinity()};
  if (function.kind == graph::UnaryKind::kClip) return Bounds{function.alpha, function.beta};
  return std::nullopt;
}

}  // namespace millrace::lowering
