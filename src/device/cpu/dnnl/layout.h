// The memory layout that a oneDNN descriptor stands for, in a form of our own: 2.6 has a structure
// for it, 3.x has functions to query it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/cpu/dnnl/types.h"

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

// Returns nothing if the layout is left open, or is known to oneDNN only.
std::optional<Layout> layout_of(const Desc& desc);

// The dimensions as they lie in memory, outermost first. One of size 1 may have any stride: where
// that is the same as another's, they are in the order of their numbers.
std::vector<uint32_t> order_of(const Layout& layout);

// Returns a dense layout with the dimensions in memory in the order `order`, outermost first, and
// `blocks` behind them. Returns nothing if oneDNN cannot express that layout.
std::optional<Desc> dense_desc(const Dims& dims, ElementType type, std::span<const uint32_t> order,
                               std::span<const Block> blocks);

// dense_like() with another type: the dimensions in the order and with the blocks of `desc`. It is
// in C order if the layout of `desc` is unknown, or if oneDNN cannot express the new one.
Desc dense_like(const Desc& desc, const Dims& dims, ElementType type);

// True if a oneDNN function that derives a descriptor from another one has returned none.
bool is_absent(const Desc& desc);

}  // namespace millrace::device::cpu
