// Winograd's algorithm for convolutions with filters of 3x3 taps at stride 1, on images in blocks
// of channels, as vector loops. The instruction set is chosen when they are called.
//
// The result is made in tiles of 4x4 elements, F(4x4,3x3), or of 2x2, F(2x2,3x3). A tile is made
// from a patch of 6x6 (4x4) elements of the image. The input transform is applied to the patch; the
// filter transform has been applied to the filters at load. Then 36 (16) matrix products sum over
// channels, and the output transform makes the tile out of the sums. A tile takes 36 products for
// each pair of channels instead of 144, a small one 16 instead of 36. The transformed filters are 4
// times as large (16/9).
//
// The transforms increase rounding errors, to about 1e-5 of the largest elements. An element that
// is infinite or NaN makes its whole tile NaN.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::kernels::winograd {

inline constexpr size_t kTaps = 3, kLargeTile = 4, kSmallTile = 2;
// The number of blocks of result channels in a panel, and the largest number of large tiles in a
// batch. A batch has twice as many small tiles.
inline constexpr size_t kPanelBlocks = 4, kMostTiles = 30;

// Images are [channels / block, height, width, block], filters [result channels, channels, 3, 3].
struct Geometry {
  size_t tile;                   // kLargeTile or kSmallTile
  size_t block;                  // 8 or 16
  size_t blocks_in, blocks_out;  // of channels
  size_t height, width;          // of the image
  size_t out_height, out_width;  // at least 1
  size_t above, left;            // zeros around the image

  size_t channels_in() const { return blocks_in * block; }
  size_t channels_out() const { return blocks_out * block; }
  size_t products() const { return (tile + kTaps - 1) * (tile + kTaps - 1); }
  size_t tile_columns() const { return (out_width + tile - 1) / tile; }
  size_t tiles() const { return (out_height + tile - 1) / tile * tile_columns(); }
  size_t panels() const { return (blocks_out + kPanelBlocks - 1) / kPanelBlocks; }
  // The number of tiles in a batch. All batches are of about equal size.
  size_t tiles_at_once() const {
    const size_t most = tile == kLargeTile ? kMostTiles : 2 * kMostTiles;
    const size_t times = (tiles() + most - 1) / most;
    return (tiles() + times - 1) / times;
  }
  // Distances between the matrices of transformed patches, and between those of sums. With a power
  // of two they would map to the same few sets of the cache.
  size_t patches_apart() const { return tiles_at_once() * channels_in() + 16; }
  size_t sums_apart() const { return tiles_at_once() * kPanelBlocks * block + 16; }

  // Sizes of the transformed filters, and of the scratch memory of each thread.
  size_t filter_floats() const { return products() * channels_in() * channels_out(); }
  size_t scratch_floats() const { return products() * (patches_apart() + sums_apart()); }
};

// `to` has filter_floats().
void transform_filters(const Geometry& geometry, const float* from, float* to) noexcept;

// The bias that is added to the sums, and the operations that follow it.
struct Finish {
  const float* bias;  // [result channels], or null
  bool adds;          // to what the result holds
  float least, most;  // results are kept between them
};

// Some tiles of some channels of the result. Elements of images are float, or uint16_t with the
// bits of BF16: these are computed in FP32, too, and rounded at the end. `scratch` has
// scratch_floats().
template <class Number>
struct Work {
  const Number* image;
  const float* filters;  // transformed
  Number* result;
  float* scratch;
  size_t first_tile, tiles;  // any number of them
  size_t first_panel, panels;
};
void run(const Geometry& geometry, const Finish& finish, const Work<float>& work) noexcept;
void run(const Geometry& geometry, const Finish& finish, const Work<uint16_t>& work) noexcept;

}  // namespace millrace::device::cpu::kernels::winograd
