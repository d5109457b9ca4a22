// Index arithmetic for operators that move or broadcast elements of dense arrays. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/operators.h"

namespace millrace::graph::reference {

// Element strides of a dense array in C order.
Dims dense_strides(std::span<const int64_t> shape);

// A mapping from output elements to input elements, by dimension of the output: element (i, j, ...)
// of the output is input element offsets[0][i] + offsets[1][j] + ... An entry of kFill in any
// dimension marks output elements that no input element is copied to (padding).
using IndexOffsets = std::vector<std::vector<int64_t>>;
inline constexpr int64_t kFill = -1;

// Returns the offsets that read an array of `shape` as if it were broadcast to `output`, as in
// numpy.
// Requirement: `shape` broadcasts to `output`.
IndexOffsets broadcast_offsets(const Dims& shape, const Dims& output);

// Returns the index that is read at `index` of a padded dimension of `size` elements, counted from
// the first element that is not padding; kFill if the constant is there. Reflection has period
// 2 * (size - 1).
// Requirement: `size` is positive unless the mode is kConstant.
int64_t padded_index(PadMode mode, int64_t index, int64_t size) noexcept;

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

// Copies elements by their offsets. Elements of the output that are marked kFill are not written.
template <class T>
void copy_by_offsets(const IndexOffsets& offsets, const T* from, T* to) {
  for_each_offset(offsets, [&](size_t position, int64_t offset) {
    if (offset != kFill) to[position] = from[offset];
  });
}

}  // namespace millrace::graph::reference
