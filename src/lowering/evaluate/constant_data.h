// Tools for code that computes with constants: storage, saturating casts, and index arithmetic for
// strided and broadcast arrays. Functions depend on their arguments alone: thread-safe.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "tensor/visit_element.h"

namespace millrace::lowering {

using tensor::visit_element;

// A value without a name, and write access to the storage of its constant. The value owns the
// storage; `data` is valid as long as the value or a copy of its constant exists.
struct MutableConstant {
  graph::Value value;
  std::byte* data = nullptr;

  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(data), value.constant->bytes.size() / sizeof(T)};
  }
};

// Returns storage that is aligned to 64 bytes and not initialised. kInvalidArgument if the shape
// has a negative dimension or its size overflows, kOutOfMemory.
Result<MutableConstant> make_constant(tensor::DataType type, graph::Dims shape);

// The product of non-negative dimensions; nothing if one is negative, or if the product of those
// that are not 0 overflows.
std::optional<int64_t> checked_product(std::span<const int64_t> dims) noexcept;

// Element strides of a dense array in C order.
graph::Dims dense_strides(const graph::Dims& shape);

// A mapping from output elements to input elements, by dimension of the output: element (i, j, ...)
// of the output is input element offsets[0][i] + offsets[1][j] + ... An entry of kFill in any
// dimension marks output elements that no input element is copied to (padding).
using IndexOffsets = std::vector<std::vector<int64_t>>;
inline constexpr int64_t kFill = -1;

// Returns the offsets that read an array of `shape` as if it were broadcast to `output`, as in
// numpy.
// Requirement: `shape` broadcasts to `output`.
IndexOffsets broadcast_offsets(const graph::Dims& shape, const graph::Dims& output);

// Calls `visit(output index, input offset or kFill)` for every element of the output, in C order.
template <class Visit>
void for_each_offset(const IndexOffsets& offsets, Visit&& visit) {
  for (const auto& dimension : offsets) {
    if (dimension.empty()) return;
  }
  std::vector<size_t> index(offsets.size(), 0);
  const size_t rank = offsets.size();
  for (size_t position = 0;; ++position) {
    int64_t offset = 0;
    for (size_t d = 0; d < rank; ++d) {
      const int64_t step = offsets[d][index[d]];
      if (step == kFill) {
        offset = kFill;
        break;
      }
      offset += step;
    }
    visit(position, offset);
    size_t d = rank;
    while (d > 0 && ++index[d - 1] == offsets[d - 1].size()) index[--d] = 0;
    if (d == 0) return;
  }
}

// Like static_cast, but floating-point values beyond the range of an integer type saturate, and NaN
// becomes 0.
template <class To, class From>
To saturating_cast(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(x)) return To{0};
    // Compared in double, which represents the limits of 32-bit types exactly. The maxima of 64-bit
    // types round up to a power of two, from which on values have to saturate.
    const double wide = x;
    if (wide <= static_cast<double>(std::numeric_limits<To>::min())) {
      return std::numeric_limits<To>::min();
    }
    if (wide >= static_cast<double>(std::numeric_limits<To>::max())) {
      return std::numeric_limits<To>::max();
    }
  }
  return static_cast<To>(x);
}

}  // namespace millrace::lowering
