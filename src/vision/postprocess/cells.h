// CellLayout: the view of a network's output tensor as a list of cells with channels, whether
// channels come first or last in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"

namespace millrace::vision {

// The layout of an output with the shape [N = 1, C, H, W], [N, H, W, C], [N, C, H] or [N, H, C].
struct CellLayout {
  uint32_t cells = 0;     // H * W in row-major order, or H for shapes without W
  uint32_t channels = 0;  // C
  bool channels_first = false;
  bool is_map = false;   // has both H and W
  uint32_t rows = 0;     // H of a map
  uint32_t columns = 0;  // W of a map

  // Returns the index of the element for a channel of a cell.
  size_t at(uint32_t cell, uint32_t channel) const noexcept {
    return channels_first ? size_t{channel} * cells + cell : size_t{cell} * channels + channel;
  }
  size_t elements() const noexcept { return size_t{cells} * channels; }
};

// Returns the layout of an output. `layout` is NCHW, NHWC, NCH or NHC; the shape may omit the
// leading 1. kInvalidArgument for another layout, a shape of another rank, a batch size other than
// 1, and shapes without elements or with 2^32 or more.
Result<CellLayout> cell_layout(std::span<const uint32_t> shape, std::string_view layout);

}  // namespace millrace::vision
