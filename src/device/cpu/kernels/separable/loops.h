// A convolution of one pixel and the depthwise one of 3x3 taps behind it, on images in blocks of
// channels: loops in vectors. The instruction set is chosen when they are called.
//
// What is between the two is the largest image of mobile networks, and takes longer to write and to
// read again than to compute. Here some rows of a few of its blocks exist at a time.
#pragma once

#include <cstddef>

namespace millrace::device::cpu::kernels::separable {

inline constexpr size_t kTaps = 3;
// So many blocks of channels are made at a time.
inline constexpr size_t kPanelBlocks = 4;
// So many rows of the result follow at most from one reading of the rows under them.
inline constexpr size_t kRowsAtOnce = 2;
constexpr size_t rows_under(size_t rows, size_t stride) {
  return (rows - 1) * stride + kTaps;
}
inline constexpr size_t kRowsUnder = rows_under(kRowsAtOnce, 2);

// The channels of a block, 8 or 16: as many as fill vectors here.
size_t vector_block() noexcept;

// Images are [channels / block, height, width, block].
struct Geometry {
  size_t block;                  // vector_block()
  size_t channels_in;            // the last block may have room for more
  size_t blocks_out;             // of channels, of the result and of the image between
  size_t height, width;          // of the image, and of the one between
  size_t out_height, out_width;  // at least 1
  size_t stride;                 // of the depthwise convolution, 1 or 2
  size_t above, left;            // zeros around the image between, 0 or 1

  size_t channels_out() const { return blocks_out * block; }
  // Blocks are divided among panels as evenly as they can be.
  size_t panels() const { return (blocks_out + kPanelBlocks - 1) / kPanelBlocks; }
  size_t first_block(size_t panel) const { return panel * blocks_out / panels(); }
  // The columns of the image between that the result follows from, with zeros around it.
  size_t columns() const { return (out_width - 1) * stride + kTaps; }
  // A row of a block of it.
  size_t row_floats() const { return columns() * block; }
  // Of the memory that each thread needs for itself: rows that exist, and one of zeros.
  size_t scratch_floats() const { return (kRowsUnder + 1) * kPanelBlocks * row_floats(); }
};

// Of one of the two convolutions.
struct Layer {
  const float* filters;  // [panels][channels][result channels of the panel]; [blocks][taps][block]
  const float* bias;     // [result channels], or null
  float least, most;     // results are kept between them
};

// Some rows of the result. `scratch` has scratch_floats().
struct Work {
  const float* image;
  float* result;
  float* scratch;
  size_t first_row, rows;
};
void run(const Geometry& geometry, const Layer& pointwise, const Layer& depthwise,
         const Work& work) noexcept;

}  // namespace millrace::device::cpu::kernels::separable
