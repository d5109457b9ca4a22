// A tensor seen from one of its dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace::fallback {

// Element (o, i, n) is at (o * size + i) * inner + n: outer dimensions, the axis, inner dimensions.
struct AxisSplit {
  size_t outer = 1, size = 1, inner = 1;

  // Requirement: axis < dims.size(), or dims is that of a scalar and axis 0.
  AxisSplit(std::span<const int64_t> dims, size_t axis) {
    for (size_t d = 0; d < dims.size(); ++d) {
      size_t& part = d < axis ? outer : d == axis ? size : inner;
      part *= static_cast<size_t>(dims[d]);
    }
  }

  size_t lines() const noexcept { return outer * inner; }
  // Offset of the first element of line `index` of the axis; its elements are `inner` apart.
  size_t start(size_t index) const noexcept { return index / inner * size * inner + index % inner; }
};

}  // namespace millrace::fallback
