// Activations that only keep results between two numbers, as kernels of the device's own apply
// them.
#pragma once

#include <optional>

#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

struct Bounds {
  float least, most;
};
// None where the activation does something else.
std::optional<Bounds> bounds_of(const graph::Activation& activation);

}  // namespace millrace::device::cpu::kernels
