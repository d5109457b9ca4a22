// Winograd's algorithm for convolutions with filters of 3x3 taps at stride 1, on images in blocks
// of channels: loops in vectors. The instruction set is chosen when they are called.
//
// The result is made in tiles of 4x4 elements. A tile follows from 6x6 elements of the image, which
// one linear transform makes of them in the first place; so are the filters, once; the products of
// these are sums over channels only, 36 products of matrices; and another transform makes the tile
// of those. A tile takes 36 products for each pair of channels instead of 144.
//
// Rounding errors grow by the transforms, to about 1e-5 of the largest elements. An element that is
// infinite or no number makes its whole tile no numbers.
#pragma once

#include <cstddef>

namespace millrace::device::cpu::kernels::winograd {

inline constexpr size_t kTile = 4, kTaps = 3;
inline constexpr size_t kPatch = kTile + kTaps - 1;  // what a tile follows from, in each direction
inline constexpr size_t kProducts = kPatch * kPatch;
// The products take so many blocks of result channels, and at most so many tiles, at a time.
inline constexpr size_t kPanelBlocks = 4, kMostTiles = 30;

// Images are [channels / block, height, width, block], filters [result channels, channels, 3, 3].
struct Geometry {
  size_t block;                  // 8 or 16
  size_t blocks_in, blocks_out;  // of channels
  size_t height, width;          // of the image
  size_t out_height, out_width;  // at least 1
  size_t above, left;            // zeros around the image

  size_t channels_in() const { return blocks_in * block; }
  size_t channels_out() const { return blocks_out * block; }
  size_t tile_columns() const { return (out_width + kTile - 1) / kTile; }
  size_t tiles() const { return (out_height + kTile - 1) / kTile * tile_columns(); }
  size_t panels() const { return (blocks_out + kPanelBlocks - 1) / kPanelBlocks; }
  // So many tiles at a time, that all times are about as long.
  size_t tiles_at_once() const {
    const size_t times = (tiles() + kMostTiles - 1) / kMostTiles;
    return (tiles() + times - 1) / times;
  }
  // The 36 matrices of what is made of patches and of sums are so far apart. At distances of a
  // power of two they would share a few lines of the cache.
  size_t patches_apart() const { return tiles_at_once() * channels_in() + 16; }
  size_t sums_apart() const { return tiles_at_once() * kPanelBlocks * block + 16; }

  // Of the transformed filters, and of the memory that each thread needs for itself.
  size_t filter_floats() const { return kProducts * channels_in() * channels_out(); }
  size_t scratch_floats() const { return kProducts * (patches_apart() + sums_apart()); }
};

// `to` has filter_floats().
void transform_filters(const Geometry& geometry, const float* from, float* to) noexcept;

// What is added to the sums, and what becomes of them.
struct Finish {
  const float* bias;  // [result channels], or null
  bool adds;          // to what the result holds
  float least, most;  // results are kept between them
};

// Some tiles of some channels of the result. `scratch` has scratch_floats().
struct Work {
  const float* image;
  const float* filters;  // transformed
  float* result;
  float* scratch;
  size_t first_tile, tiles;  // any number of them
  size_t first_panel, panels;
};
void run(const Geometry& geometry, const Finish& finish, const Work& work) noexcept;

}  // namespace millrace::device::cpu::kernels::winograd
