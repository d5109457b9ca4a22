// What a descriptor of the library says of the memory, in a form of our own: 2.6 has a structure
// for it, 3.x questions and answers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/cpu/dnnl/desc.h"

namespace millrace::device::cpu {

// A dimension whose indices are split: `size` neighbours lie together.
struct Block {
  size_t dim;
  int64_t size;
};

// Distances are in elements.
struct Layout {
  static constexpr size_t kMostDims = DNNL_MAX_NDIMS;
  using Extents = std::array<int64_t, kMostDims>;

  size_t rank = 0;
  Extents dims{}, padded_dims{};
  Extents strides{};  // from one block to the next where the dimension is split
  size_t block_count = 0;
  std::array<Block, kMostDims> block_array{};  // innermost in memory, the outer ones first
  int64_t offset = 0;                          // of the first element

  std::span<const Block> blocks() const { return std::span(block_array).first(block_count); }
};

// Nothing where the layout is left open, or is known to the library only.
std::optional<Layout> layout_of(const Desc& desc);

// The dimensions as they lie in memory, outermost first. One of size 1 may have any stride: where
// that is the same as another's, they are in the order of their numbers.
std::vector<uint32_t> order_of(const Layout& layout);

// Of a tensor without gaps: the dimensions in memory in the order `order`, outermost first, and
// behind them `blocks`. Nothing where the library cannot be told of that.
std::optional<Desc> dense_desc(const Dims& dims, ElementType type, std::span<const uint32_t> order,
                               std::span<const Block> blocks);

// dense_like() with another type: the dimensions in the order and with the blocks of `desc`. In C
// order where the layout of `desc` is unknown, or the library cannot be told of such a one.
Desc dense_like(const Desc& desc, const Dims& dims, ElementType type);

// Whether one of the library's functions that makes a descriptor of another has made none.
bool is_absent(const Desc& desc);

}  // namespace millrace::device::cpu
