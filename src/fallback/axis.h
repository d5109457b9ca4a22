// AxisSplit: a tensor as three nested dimensions around one of its axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace::fallback {

// Element (o, i, n) is at offset (o * size + i) * inner + n, where `outer` counts the dimensions
// before the axis together, `size` is the axis, and `inner` counts the dimensions after it. A line
// is the elements along the axis for one (o, n).
struct AxisSplit {
  size_t outer = 1, size = 1, inner = 1;

  // Requirement: axis < dims.size(); or dims is empty (a scalar) and axis is 0.
  AxisSplit(std::span<const int64_t> dims, size_t axis) {
    for (size_t d = 0; d < dims.size(); ++d) {
      size_t& part = d < axis ? outer : d == axis ? size : inner;
      part *= static_cast<size_t>(dims[d]);
    }
  }

  size_t lines() const noexcept { return outer * inner; }
  // The offset of the first element of line `index`. The elements of a line are `inner` apart.
  size_t start(size_t index) const noexcept { return index / inner * size * inner + index % inner; }
};

}  // namespace millrace::fallback
