// The output of a detector as cells with channels, whichever of the two comes first in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"

namespace millrace::vision {

// Layout of an output of the shape [N = 1, C, H, W], [N, H, W, C], [N, C, H] or [N, H, C].
struct CellLayout {
  uint32_t cells = 0;     // H * W, row by row, or H of the shapes without W
  uint32_t channels = 0;  // C
  bool channels_first = false;
  bool is_map = false;   // has both H and W
  uint32_t rows = 0;     // H of a map
  uint32_t columns = 0;  // W of a map

  // Index of a channel of a cell among the tensor's elements.
  size_t at(uint32_t cell, uint32_t channel) const noexcept {
    return channels_first ? size_t{channel} * cells + cell : size_t{cell} * channels + channel;
  }
  size_t elements() const noexcept { return size_t{cells} * channels; }
};

// `layout` is NCHW, NHWC, NCH or NHC; the shape may lack the leading 1. kInvalidArgument for
// another layout, a shape of another rank, a batch inside the shape, and shapes without elements or
// with more than 2^32.
Result<CellLayout> cell_layout(std::span<const uint32_t> shape, std::string_view layout);

}  // namespace millrace::vision
