// Boxes: the geometry of a conversion as nested loops, without element types.
#pragma once

#include <cstddef>
#include <vector>

namespace millrace::tensor {

// One loop: `extent` steps (never 0), each of which advances source and destination by their
// strides, in elements.
struct Dim {
  size_t extent;
  size_t from_stride;
  size_t to_stride;
};

// A loop nest that visits every element of a region once; the last dimension is the innermost.
struct Box {
  size_t from_offset = 0;
  size_t to_offset = 0;
  std::vector<Dim> dims;  // at least one after simplified()

  bool empty() const noexcept;  // some extent is 0
};

// The same elements in the other direction.
Box reversed(Box box);

// The same elements in fewer loops: dimensions of extent 1 are dropped, dimensions that are
// contiguous with each other on both sides are merged, and the longest one becomes the innermost,
// so that a call of an element kernel covers many elements. It is split into tiles where that uses
// the caches better.
Box simplified(Box box);

// Calls row(from index, to index, innermost dimension) for each innermost loop.
// Requirement: the box was simplified and is not empty.
template <class Row>
void for_each_row(const Box& box, size_t level, size_t from, size_t to, const Row& row) {
  const Dim& dim = box.dims[level];
  if (level + 1 == box.dims.size()) return row(from, to, dim);
  for (size_t i = 0; i < dim.extent; ++i)
    for_each_row(box, level + 1, from + i * dim.from_stride, to + i * dim.to_stride, row);
}

template <class Row>
void for_each_row(const Box& box, const Row& row) {
  for_each_row(box, 0, box.from_offset, box.to_offset, row);
}

}  // namespace millrace::tensor
