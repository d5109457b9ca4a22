// Reads pixels of a source picture, of any format, as four bytes each. Holds scratch memory: each
// thread has its own.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "vision/preprocess/kernels.h"
#include "vision/preprocess/picture.h"

namespace millrace::vision {

class SourceRows {
 public:
  // `picture` has been checked, and outlives this. No row is asked for more than `most_pixels` at
  // once.
  SourceRows(const SourcePicture& picture, size_t most_pixels);

  // The pixels of row `y` in the columns `columns`, which do not decrease.
  void gather(uint32_t y, std::span<const uint32_t> columns, RowBuffer<uint8_t>& to);

  // The lanes in which gathered pixels have R, G and B.
  static std::array<uint8_t, 3> rgb_lanes(SourceFormat format);

 private:
  void gather_packed(uint32_t y, std::span<const uint32_t> columns, uint8_t* to) const;
  void gather_nv12(uint32_t y, std::span<const uint32_t> columns, uint8_t* to);

  const SourcePicture& picture_;
  std::array<RowBuffer<uint8_t>, 3> yuv_;
};

}  // namespace millrace::vision
