// Rows of the intermediate image by AMX tiles: a part of the loops for BF16 images.
#if HWY_TARGET == HWY_AVX3 && !defined(MILLRACE_CPU_SEPARABLE_TILE_ROWS_INL_H_)
#define MILLRACE_CPU_SEPARABLE_TILE_ROWS_INL_H_

#include "device/cpu/kernels/separable/rounding-inl.h"
#include "device/cpu/kernels/tiles-inl.h"

MILLRACE_BEFORE_SEPARABLE
namespace millrace::device::cpu::kernels::separable::HWY_NAMESPACE {
namespace {

constexpr size_t kTilePixels = kTileRows, kTileChannels = kTileRowBytes / sizeof(uint16_t);
constexpr size_t kTileFilters = kTileChannels * kBlock;

// The tiles are used so; the last pixels of a row and the last channels have tiles of their own:
// 0, 1  sums of whole tiles of pixels, and of the last pixels of a row
// 2, 3  whole tiles of pixels: of as many channels as a tile holds, and of the last channels
// 4, 5  the same for the last pixels
// 6, 7  filters of as many channels as a tile holds, and of the last ones
HWY_INLINE TileConfiguration configuration_of(size_t last_pixels, size_t last_channels) {
  const size_t last_bytes = last_channels * sizeof(uint16_t);
  TileConfiguration tiles;
  tiles.set(0, kTilePixels, kTileRowBytes);
  tiles.set(1, last_pixels, kTileRowBytes);
  tiles.set(2, kTilePixels, kTileRowBytes);
  tiles.set(3, kTilePixels, last_bytes);
  tiles.set(4, last_pixels, kTileRowBytes);
  tiles.set(5, last_pixels, last_bytes);
  tiles.set(6, kTileChannels / 2, kTileRowBytes);
  tiles.set(7, last_channels / 2, kTileRowBytes);
  return tiles;
}

// Adds the products of some pixels, `step` bytes apart, with the filters that are loaded.
template <bool kLastPixels, bool kLastChannels>
HWY_INLINE void add_products(const uint16_t* from, size_t step) {
  if constexpr (!kLastPixels && !kLastChannels) {
    _tile_loadd(2, from, step);
    _tile_dpbf16ps(0, 2, 6);
  } else if constexpr (!kLastPixels) {
    _tile_loadd(3, from, step);
    _tile_dpbf16ps(0, 3, 7);
  } else if constexpr (!kLastChannels) {
    _tile_loadd(4, from, step);
    _tile_dpbf16ps(1, 4, 6);
  } else {
    _tile_loadd(5, from, step);
    _tile_dpbf16ps(1, 5, 7);
  }
}

// The filters of a block of channels in `tiles` tiles. The last tile stays loaded; of two, both.
struct TileFilters {
  HWY_INLINE TileFilters(const uint16_t* first_filter, size_t count_tiles)
      : first(first_filter), tiles(count_tiles) {
    if (tiles == 2) _tile_loadd(6, first, kTileRowBytes);
    _tile_loadd(7, first + (tiles - 1) * kTileFilters, kTileRowBytes);
  }

  const uint16_t* first;
  size_t tiles;
};

template <bool kLastPixels>
HWY_INLINE void multiply_tile(const TileFilters& filters, const uint16_t* from, size_t step,
                              float* to) {
  if constexpr (kLastPixels)
    _tile_zero(1);
  else
    _tile_zero(0);
  for (size_t i = 0; i + 1 < filters.tiles; ++i, from += kTileChannels) {
    if (filters.tiles > 2) _tile_loadd(6, filters.first + i * kTileFilters, kTileRowBytes);
    add_products<kLastPixels, false>(from, step);
  }
  add_products<kLastPixels, true>(from, step);
  if constexpr (kLastPixels)
    _tile_stored(1, to, kTileRowBytes);
  else
    _tile_stored(0, to, kTileRowBytes);
}

// Sums of products of some pixels.
struct TileWork {
  float* sums;
  const float* bias;  // or null
  size_t pixels;
};

template <bool kBounded>
HWY_INLINE void finish_tile(const Finish<kBounded>& finish, const TileWork& work) {
  const Floats f;
  const Vector bias = work.bias == nullptr ? hn::Zero(f) : hn::LoadU(f, work.bias);
  const auto pixel = [&](size_t i) {
    float* const sum = work.sums + i * kBlock;
    hn::StoreU(finish.finish(hn::LoadU(f, sum), bias), f, sum);
  };
  constexpr size_t kAtOnce = 4;
  size_t i = 0;
  for (; i + kAtOnce <= work.pixels; i += kAtOnce)
    for (size_t j = 0; j < kAtOnce; ++j) pixel(i + j);
  for (; i < work.pixels; ++i) pixel(i);
}

// Computes rows of the intermediate image. The products of some pixels are begun before the sums of
// the previous ones are read, since tiles have a long latency.
template <bool kBounded>
class TileRows {
 public:
  HWY_INLINE TileRows(const Geometry& g, const Bf16Layer& layer, const Strip& strip,
                      const uint16_t* image)
      : g_(g),
        layer_(layer),
        strip_(strip),
        image_(image),
        finish_(layer),
        filter_tiles_((g.channels_in + kTileChannels - 1) / kTileChannels) {
    // Tiles that are not used need a valid size, too.
    const size_t last_pixels = std::max<size_t>(strip.count % kTilePixels, 1);
    const size_t last_channels = g.channels_in - (filter_tiles_ - 1) * kTileChannels;
    kernels::HWY_NAMESPACE::configure_tiles(configuration_of(last_pixels, last_channels));
  }
  HWY_INLINE ~TileRows() { _tile_release(); }
  TileRows(const TileRows&) = delete;
  TileRows& operator=(const TileRows&) = delete;

  void make(const Panel& panel, size_t first_row, size_t end_row) const {
    TileWork before{};
    for (size_t i = 0; i < panel.blocks; ++i) {
      const size_t channel = (panel.first + i) * kBlock;
      const TileFilters filters(layer_.filters + channel * g_.channels_in, filter_tiles_);
      const float* const bias = layer_.bias == nullptr ? nullptr : layer_.bias + channel;
      for (size_t row = first_row; row < end_row; ++row) {
        float* const to = panel.row(g_, row) + i * g_.row_floats() + strip_.at * kBlock;
        before = make_row(filters, row, {to, bias, 0}, before);
      }
    }
    finish_tile(finish_, before);
  }

 private:
  // Returns the last pixels, whose sums are still to be finished.
  HWY_INLINE TileWork make_row(const TileFilters& filters, size_t row, TileWork now,
                               TileWork before) const {
    const size_t step = g_.channels_in * sizeof(uint16_t);
    const uint16_t* from = image_ + (row * g_.width + strip_.from) * g_.channels_in;
    for (size_t left = strip_.count; left > 0; left -= now.pixels) {
      now.pixels = std::min(left, kTilePixels);
      if (now.pixels == kTilePixels)
        multiply_tile<false>(filters, from, step, now.sums);
      else
        multiply_tile<true>(filters, from, step, now.sums);
      finish_tile(finish_, before);
      before = now;
      now.sums += kTilePixels * kBlock;
      from += kTilePixels * g_.channels_in;
    }
    return before;
  }

  const Geometry& g_;
  const Bf16Layer& layer_;
  const Strip& strip_;
  const uint16_t* const image_;
  const Finish<kBounded> finish_;
  const size_t filter_tiles_;
};

}  // namespace
}  // namespace millrace::device::cpu::kernels::separable::HWY_NAMESPACE
MILLRACE_AFTER_SEPARABLE
#endif
