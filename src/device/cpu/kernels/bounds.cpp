#include "device/cpu/kernels/bounds.h"

#include <limits>

namespace millrace::device::cpu::kernels {

std::optional<Bounds> clamp_bounds(const graph::Activation& activation) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  switch (activation.kind) {
    case graph::UnaryKind::kIdentity:
      return Bounds{-kInfinite, kInfinite};
    case graph::UnaryKind::kRelu:
      return Bounds{0, kInfinite};
    case graph::UnaryKind::kClip:
      return Bounds{activation.alpha, activation.beta};
    default:
      return std::nullopt;
  }
}

}  // namespace millrace::device::cpu::kernels
