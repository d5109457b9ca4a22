// The bounds of activations that do nothing but keep results between two numbers, for the device's
// own kernels, which apply no other activation.
#pragma once

#include <optional>

#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

struct Bounds {
  float least, most;
};
// Returns the bounds; infinite ones for the identity, and none if the activation does something
// else.
std::optional<Bounds> clamp_bounds(const graph::Activation& activation);

}  // namespace millrace::device::cpu::kernels
