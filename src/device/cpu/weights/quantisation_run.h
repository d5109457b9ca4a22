// How the scales and zero points of a quantised value go over its elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>

#include "graph/graph.h"

namespace millrace::device::cpu {

// How many elements in a row, in C order, have the same scale and zero point: those of run i are
// number i modulo the number of scales. At least 1. Requirement: the value is quantised.
inline size_t elements_per_run(const graph::Value& value) {
  if (!value.quantisation->is_per_axis()) return std::max<size_t>(value.elements(), 1);
  const auto inner = value.shape.begin() + value.quantisation->axis + 1;
  const auto run = std::accumulate(inner, value.shape.end(), int64_t{1}, std::multiplies<>());
  return std::max<size_t>(static_cast<size_t>(run), 1);
}

}  // namespace millrace::device::cpu
