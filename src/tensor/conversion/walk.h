// Box: a strided loop nest that visits the elements of a conversion, independent of element types.
#pragma once

#include <cstddef>
#include <vector>

namespace millrace::tensor {

// One loop of `extent` iterations, each of which advances the source and the destination by their
// strides, in elements.
struct Dim {
  size_t extent;
  size_t from_stride;
  size_t to_stride;
};

// A loop nest that visits every element of a region once. The last dimension is the innermost loop.
// Offsets are in elements.
struct Box {
  size_t from_offset = 0;
  size_t to_offset = 0;
  std::vector<Dim> dims;  // at least one after simplified()

  bool empty() const noexcept;  // whether some extent is 0
};

// Swaps source and destination.
Box reversed(Box box);

// Returns an equivalent loop nest for fast traversal: drops dimensions of extent 1, sorts the loops
// by stride, merges loops that are contiguous with each other on both sides, and makes the longest
// the innermost, so that each call of a kernel converts many elements. A strided innermost loop is
// tiled where that uses the caches better.
Box simplified(Box box);

// Calls row(from index, to index, innermost dimension) once per execution of the innermost loop.
// Requirement: the box is a result of simplified() and not empty.
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
