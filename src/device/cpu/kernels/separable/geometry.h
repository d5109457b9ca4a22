// The extents and operands of a pointwise (1x1) convolution followed by a depthwise one of 3x3
// taps, which are computed together (loops.h, bf16_loops.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::kernels::separable {

inline constexpr size_t kTaps = 3;
// The number of blocks of channels in a panel in FP32.
inline constexpr size_t kPanelBlocks = 4;
// The largest number of rows of the result that are computed together.
inline constexpr size_t kRowsAtOnce = 2;
constexpr size_t rows_under(size_t rows, size_t stride) {
  return (rows - 1) * stride + kTaps;
}
inline constexpr size_t kRowsUnder = rows_under(kRowsAtOnce, 2);

// Images are [channels / block, height, width, block], or [height, width, channels].
struct Geometry {
  size_t block;                  // vector_block()
  size_t channels_in;            // the last block may have room for more
  size_t blocks_out;             // blocks of channels of the result and of the intermediate image
  size_t height, width;          // of the image and of the intermediate image
  size_t out_height, out_width;  // at least 1
  size_t stride;                 // of the depthwise convolution, 1 or 2
  size_t above, left;            // zeros around the intermediate image, 0 or 1

  // True if the channels of the image and of the result are innermost.
  bool channels_innermost = false;
  size_t panel_blocks = kPanelBlocks;
  // The number of strips of columns of the result, which are computed one after the other.
  size_t strips = 1;
  // True if lanes take panels, since the filters are larger than the image; otherwise they take
  // rows.
  bool divides_panels = false;

  size_t channels_out() const { return blocks_out * block; }
  size_t image_elements() const {
    const size_t room = (channels_in + block - 1) / block * block;
    return height * width * (channels_innermost ? channels_in : room);
  }
  size_t result_elements() const { return out_height * out_width * channels_out(); }
  // Blocks are divided among panels as evenly as possible.
  size_t panels() const { return (blocks_out + panel_blocks - 1) / panel_blocks; }
  size_t first_block(size_t panel) const { return panel * blocks_out / panels(); }
  size_t first_column(size_t strip) const { return strip * out_width / strips; }
  // The largest number of columns of the intermediate image under a strip, with zeros around it.
  size_t columns() const { return ((out_width + strips - 1) / strips - 1) * stride + kTaps; }
  // Size of a row of one block of the intermediate image.
  size_t row_floats() const { return columns() * block; }
  // Size of the scratch memory of each thread: the rows that exist, and one of zeros.
  size_t scratch_floats() const { return (kRowsUnder + 1) * panel_blocks * row_floats(); }
};

// One of the two convolutions, whose filters are stored as T.
template <class T>
struct LayerOf {
  const T* filters;   // arranged, see below
  const float* bias;  // [result channels], or null
  float least, most;  // results are kept between them
};
// Filters: [panels][channels][result channels of the panel]; or [blocks][taps][block].
using Layer = LayerOf<float>;

// Some rows of some panels of the result. `scratch` has scratch_floats().
template <class T>
struct WorkOf {
  const T* image;
  T* result;
  float* scratch;
  size_t first_row, rows;
  size_t first_panel = 0, panels = 0;  // no panels: all
};
using Work = WorkOf<float>;

// The operands for BF16 images. The filters of the 1x1 layer are as arrange() gives them
// (bf16_loops.h); those of the depthwise one are FP32 numbers rounded to BF16.
using Bf16Layer = LayerOf<uint16_t>;
using Bf16Work = WorkOf<uint16_t>;
inline constexpr size_t kBf16Block = 16;

}  // namespace millrace::device::cpu::kernels::separable
