// A matrix product [pixels, channels] x [channels, result channels] in blocks of 16 pixels and 64
// result channels: four tiles of sums, one of pixels and three of filters. The sums of a block are
// requantised by vectors while the tiles of the next block are multiplied. Pixels are taken in
// portions that stay in the L2 cache with their results, for each group of channels in turn.
#include "device/cpu/kernels/quantised/amx/pointwise_loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/quantised/amx/pointwise_loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/quantised/vnni/addition-inl.h"
#include "device/cpu/kernels/quantised/vnni/sums-inl.h"
#include "device/cpu/kernels/tiles-inl.h"
// clang-format on

// Highway 1.0.3 has no target with AMX, either.
#if HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni,amx-tile,amx-int8")
namespace millrace::device::cpu::kernels::quantised::amx::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using namespace vnni::HWY_NAMESPACE;
using vnni::kNarrow;
using vnni::kWide;

TileConfiguration whole_tiles() {
  constexpr size_t kTiles = 8;
  TileConfiguration configuration;
  for (size_t tile = 0; tile < kTiles; ++tile) configuration.set(tile, kTileRows, kTileRowBytes);
  return configuration;
}

// The sums of a tile, 16 channels for each of its pixels, and the bytes of a tile of filters.
constexpr size_t kTileSums = kTileRows * kNarrow, kFilterBytes = kTileRows * kTileRowBytes;

// The sums of a group of channels for the pixels of a tile.
struct alignas(kTileRowBytes) TileSums {
  int32_t sums[kWideVectors][kTileSums];
};

// The pixels of a tile of sums. Those before `first` are stored with another block.
struct Block {
  size_t group = 0;
  size_t tile = 0;  // the first pixel of the tile
  size_t first = 0, end = 0;
};

template <class Kind>
HWY_INLINE void multiply(const PointwiseLayer& layer, const PointwiseWork& work, const Block& block,
                         TileSums& result) {
  const int32_t* const starts = work.scaling.starts + block.group * kWide;
  _tile_loadd(0, starts, 0);
  _tile_loadd(1, starts + kNarrow, 0);
  _tile_loadd(2, starts + 2 * kNarrow, 0);
  _tile_loadd(3, starts + 3 * kNarrow, 0);
  const uint8_t* image = work.image + block.tile * layer.channels_in;
  const int8_t* filters = work.filters + block.group * kWide * layer.channels_in;
  for (size_t k = 0; k < layer.channels_in; k += kTileRowBytes) {
    _tile_loadd(4, image + k, layer.channels_in);
    _tile_loadd(5, filters, kTileRowBytes);
    _tile_loadd(6, filters + kFilterBytes, kTileRowBytes);
    _tile_loadd(7, filters + 2 * kFilterBytes, kTileRowBytes);
    if constexpr (Kind::signed_image) {
      _tile_dpbssd(0, 4, 5);
      _tile_loadd(5, filters + 3 * kFilterBytes, kTileRowBytes);
      _tile_dpbssd(1, 4, 6);
      _tile_dpbssd(2, 4, 7);
      _tile_dpbssd(3, 4, 5);
    } else {
      _tile_dpbusd(0, 4, 5);
      _tile_loadd(5, filters + 3 * kFilterBytes, kTileRowBytes);
      _tile_dpbusd(1, 4, 6);
      _tile_dpbusd(2, 4, 7);
      _tile_dpbusd(3, 4, 5);
    }
    filters += kWideVectors * kFilterBytes;
  }
  _tile_stored(0, result.sums[0], kTileRowBytes);
  _tile_stored(1, result.sums[1], kTileRowBytes);
  _tile_stored(2, result.sums[2], kTileRowBytes);
  _tile_stored(3, result.sums[3], kTileRowBytes);
}

template <class Kind, bool kAdds>
HWY_INLINE void store(const PointwiseLayer& layer, const PointwiseWork& work, const Block& block,
                      const TileSums& tiles) {
  ScalingView scaling = work.scaling;
  scaling.skip(block.group * kWide);
  for (size_t pixel = block.first; pixel < block.end; ++pixel) {
    Sums<Kind, kWideVectors> sums;
    for (size_t i = 0; i < kWideVectors; ++i)
      sums.sums[i] = hn::Load(Ints(), tiles.sums[i] + (pixel - block.tile) * kNarrow);
    const size_t at = pixel * layer.channels_out + block.group * kWide;
    if constexpr (kAdds)
      store_sum(sums, layer.encoding, *layer.addition, scaling, work.residual + at,
                work.result + at);
    else
      sums.store(layer.encoding.requantisation, scaling, work.result + at);
  }
}

// The number of pixels to multiply with a group of filters before the next group: the pixels and
// their results stay in the L2 cache.
size_t pixels_at_once(const PointwiseLayer& layer) {
  constexpr size_t kCachedBytes = size_t{256} << 10;
  const size_t pixels = kCachedBytes / (layer.channels_in + layer.channels_out);
  return std::max(pixels / kTileRows, size_t{1}) * kTileRows;
}

template <class Kind, bool kAdds>
void run_blocks(const PointwiseLayer& layer, const PointwiseWork& work) {
  kernels::HWY_NAMESPACE::configure_tiles(whole_tiles());
  const size_t at_once = pixels_at_once(layer), end = work.first_pixel + work.pixel_count;
  // The sums of one block are requantised while the next ones are added up.
  TileSums sums[2];
  size_t now = 0;
  Block before;
  for (size_t first = work.first_pixel; first < end; first += at_once) {
    const size_t last = std::min(first + at_once, end);
    for (size_t group = work.first_group; group < work.first_group + work.group_count; ++group)
      for (size_t pixel = first; pixel < last; pixel += kTileRows) {
        // The last tile overlaps the one before it.
        const Block block{group, std::min(pixel, work.pixels - kTileRows), pixel,
                          std::min(pixel + kTileRows, last)};
        multiply<Kind>(layer, work, block, sums[now]);
        now = 1 - now;
        store<Kind, kAdds>(layer, work, before, sums[now]);
        before = block;
      }
  }
  store<Kind, kAdds>(layer, work, before, sums[1 - now]);
  _tile_release();
}

void run_work(const PointwiseLayer& layer, const PointwiseWork& work) {
  vnni::HWY_NAMESPACE::with_kind(layer.encoding, layer.addition, [&]<class Kind>(Kind) {
    layer.addition ? run_blocks<Kind, true>(layer, work) : run_blocks<Kind, false>(layer, work);
  });
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::quantised::amx::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif

#if HWY_ONCE
namespace millrace::device::cpu::kernels::quantised::amx {

std::vector<int8_t> arranged(const PointwiseLayer& layer, const std::vector<int8_t>& filters) {
  // The products that an instruction adds to one sum.
  constexpr size_t kWord = 4;
  std::vector<int8_t> arranged;
  arranged.reserve(filters.size());
  for (const vnni::Group& group : vnni::groups_of(layer.channels_out))
    for (size_t k = 0; k < layer.channels_in; k += kTileRowBytes)
      for (size_t first = 0; first < group.size; first += vnni::kNarrow)
        for (size_t row = 0; row < kTileRowBytes; row += kWord)
          for (size_t i = 0; i < kTileRowBytes; ++i)
            arranged.push_back(filters[group.channel(first + i / kWord) * layer.channels_in + k +
                                       row + i % kWord]);
  return arranged;
}

void run([[maybe_unused]] const PointwiseLayer& layer,
         [[maybe_unused]] const PointwiseWork& work) noexcept {
#if HWY_TARGETS & HWY_AVX3
  N_AVX3::run_work(layer, work);
#endif
}

}  // namespace millrace::device::cpu::kernels::quantised::amx
#endif  // HWY_ONCE
