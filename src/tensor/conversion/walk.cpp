#include "tensor/conversion/walk.h"

#include <algorithm>
#include <utility>

namespace millrace::tensor {
namespace {

// Whether the two loops can be merged into one.
bool continues(const Dim& outer, const Dim& inner) {
  return outer.from_stride == inner.extent * inner.from_stride &&
         outer.to_stride == inner.extent * inner.to_stride;
}

// Returns the largest divisor of `extent` from 16 to 64, or 1 if there is none. A tile touches at
// most that many cache lines.
size_t tile_of(size_t extent) {
  constexpr size_t kShortest = 16, kLongest = 64;
  for (size_t tile = kLongest; tile >= kShortest; --tile)
    if (extent % tile == 0) return tile;
  return 1;
}

// Loop tiling for transpositions. If the innermost loop has a stride on one side, each element
// there is in another cache line. With short rows, the next outer loop returns to those lines while
// they are still cached.
void tile_innermost(std::vector<Dim>& dims) {
  const Dim row = dims.back();
  const size_t tile = tile_of(row.extent);
  const bool contiguous = row.from_stride == 1 && row.to_stride == 1;
  if (dims.size() < 2 || contiguous || tile == 1 || tile == row.extent) return;
  dims.back().extent = tile;
  dims.insert(dims.end() - 2, {row.extent / tile, row.from_stride * tile, row.to_stride * tile});
}

}  // namespace

bool Box::empty() const noexcept {
  return std::any_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.extent == 0; });
}

Box reversed(Box box) {
  std::swap(box.from_offset, box.to_offset);
  for (Dim& dim : box.dims) std::swap(dim.from_stride, dim.to_stride);
  return box;
}

Box simplified(Box box) {
  std::erase_if(box.dims, [](const Dim& dim) { return dim.extent == 1; });
  std::stable_sort(box.dims.begin(), box.dims.end(), [](const Dim& a, const Dim& b) {
    return a.to_stride != b.to_stride ? a.to_stride > b.to_stride : a.from_stride > b.from_stride;
  });
  std::vector<Dim> merged;
  for (const Dim& dim : box.dims) {
    if (!merged.empty() && continues(merged.back(), dim))
      merged.back() = {merged.back().extent * dim.extent, dim.from_stride, dim.to_stride};
    else
      merged.push_back(dim);
  }
  if (merged.empty()) merged.push_back({1, 1, 1});
  const auto longest = std::max_element(
      merged.begin(), merged.end(), [](const Dim& a, const Dim& b) { return a.extent < b.extent; });
  std::rotate(longest, longest + 1, merged.end());
  tile_innermost(merged);
  box.dims = std::move(merged);
  return box;
}

}  // namespace millrace::tensor
