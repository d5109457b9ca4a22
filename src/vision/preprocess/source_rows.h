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

  // The pixels of row `y` at the offsets `offsets`, which do not decrease, and their neighbours at
  // the right, as pairs of kPairBytes. In the last column a pixel is its own neighbour. Offsets are
  // bytes of the first plane from the start of a row.
  void gather(uint32_t y, std::span<const uint32_t> offsets, RowBuffer<uint8_t>& to);
  // Offset of the neighbour within a pair, in bytes.
  static size_t pair_pixel_bytes(SourceFormat format);

  // For NV12: the pixels from column `begin` to column `end` of row `y`, in R, G and B.
  void convert(uint32_t y, uint32_t begin, uint32_t end, RowBuffer<uint8_t>& to);

  // The lanes in which gathered pixels have R, G and B.
  static std::array<uint8_t, 3> rgb_lanes(SourceFormat format);

 private:
  void gather_packed(uint32_t y, std::span<const uint32_t> offsets, uint8_t* to) const;
  void gather_nv12(uint32_t y, std::span<const uint32_t> offsets, uint8_t* to);
  template <class Column>
  void convert_columns(uint32_t y, size_t count, const Column& column, uint8_t* to);

  const SourcePicture& picture_;
  std::array<RowBuffer<uint8_t>, 3> yuv_;  // of kNv12
  std::array<RowBuffer<uint8_t>, 2> rgb_;  // of kNv12: pixels and neighbours
};

}  // namespace millrace::vision
