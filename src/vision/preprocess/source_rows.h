// SourceRows: reads pixels of a source picture of any format, and converts NV12 to RGB. It holds
// scratch memory, so it is not thread-safe: each thread uses its own.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "vision/preprocess/kernels.h"
#include "vision/preprocess/picture.h"

namespace millrace::vision {

class SourceRows {
 public:
  // `picture` is borrowed. Requirement: check_source() has accepted it. `most_pixels` is the
  // largest number of pixels that a call requests.
  SourceRows(const SourcePicture& picture, size_t most_pixels);

  // Reads the pixels of row `y` at `offsets`, together with their right neighbours, as pairs of
  // kPairBytes bytes (PairRow). The neighbour of a pixel in the last column is the pixel itself.
  // Offsets are in bytes from the start of a row of the first plane, in ascending order.
  void gather(uint32_t y, std::span<const uint32_t> offsets, RowBuffer<uint8_t>& to);
  // Returns the offset of the neighbour within a pair, in bytes.
  static size_t pair_pixel_bytes(SourceFormat format);

  // For NV12: converts the columns [begin, end) of row `y` to pixels of four bytes, R, G, B and 0.
  void convert(uint32_t y, uint32_t begin, uint32_t end, RowBuffer<uint8_t>& to);

  // Returns the lanes of R, G and B in gathered pixels.
  static std::array<uint8_t, 3> rgb_lanes(SourceFormat format);

 private:
  void gather_packed(uint32_t y, std::span<const uint32_t> offsets, uint8_t* to) const;
  void gather_nv12(uint32_t y, std::span<const uint32_t> offsets, uint8_t* to);
  template <class Column>
  void convert_columns(uint32_t y, size_t count, const Column& column, uint8_t* to);

  const SourcePicture& picture_;
  std::array<RowBuffer<uint8_t>, 3> yuv_;  // only for kNv12
  std::array<RowBuffer<uint8_t>, 2> rgb_;  // only for kNv12: pixels and their neighbours
};

}  // namespace millrace::vision
