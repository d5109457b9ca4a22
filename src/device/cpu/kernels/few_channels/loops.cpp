// An implicit matrix product: for each block of 16 result channels and each 16 windows of a row,
// the tile of windows times the tile of filters is added up over the rows of taps. The image's rows
// are copied once, with zeros around them, so that no window needs a test; each copy replaces that
// of the row that no later window reads.
#include "device/cpu/kernels/few_channels/loops.h"

#include <algorithm>
#include <cstring>

#include "tensor/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/few_channels/loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/tiles-inl.h"
// clang-format on

// Highway 1.0.3 has no target with AMX.
#if HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16,amx-tile,amx-bf16")
namespace millrace::device::cpu::kernels::few_channels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, kBlock>;
using Vector = hn::Vec<Floats>;

// The tiles are used so:
//
//   0       sums of a block of channels for some windows
//   1, 2    windows: pixels under a row of taps
//   3 to 5  filters of the rows of taps
TileConfiguration configuration_of(const Geometry& g) {
  const size_t bytes = g.taps_x * kRoom * sizeof(uint16_t);
  TileConfiguration tiles;
  tiles.set(0, kWindows, kTileRowBytes);
  for (const size_t windows : {1, 2}) tiles.set(windows, kWindows, bytes);
  for (const size_t filters : {3, 4, 5}) tiles.set(filters, bytes / sizeof(float), kTileRowBytes);
  return tiles;
}

// The rows of the image under a row of the result, copied with zeros around them and in place of
// the channels that it does not have. The zeros of the filters would not do there: an infinity or a
// NaN times zero is NaN.
class Rows {
 public:
  Rows(const Geometry& g, const Work& work)
      : g_(g),
        work_(work),
        zeros_(work.scratch + g.taps_y * g.row_elements()),
        copied_(copied_pixels(g)) {
    std::fill_n(work.scratch, g.scratch_elements(), uint16_t{0});
  }

  // Copies the rows under a row of the result. Requirement: calls have increasing rows.
  void move_to(size_t out_row) {
    const size_t first = out_row * g_.stride_y,
                 end = std::min(first + g_.taps_y, g_.height + g_.above);
    made_ = std::max({made_, first, g_.above});
    for (; made_ < end; ++made_) copy(made_ - g_.above);
    first_ = first;
    // g++ does not know that loads of tiles read memory.
    __asm__ volatile("" : : : "memory");
  }

  const uint16_t* under(size_t tap) const {
    const size_t row = first_ + tap - g_.above;  // wraps around above the image
    return row < g_.height ? slot(row) : zeros_;
  }

 private:
  // With strides, the last columns that are read may end among the zeros left of the image.
  static size_t copied_pixels(const Geometry& g) {
    const size_t columns = g.row_elements() / kRoom;
    return columns > g.left ? std::min(g.width, columns - g.left) : 0;
  }

  uint16_t* slot(size_t row) const { return work_.scratch + row % g_.taps_y * g_.row_elements(); }

  void copy(size_t row) const {
    const uint64_t mask = ~uint64_t{0} >> (8 * sizeof(uint16_t) * (kRoom - g_.channels));
    const uint16_t* from = work_.image + row * g_.width * kRoom;
    uint16_t* to = slot(row) + g_.left * kRoom;
    for (size_t x = 0; x < copied_; ++x, from += kRoom, to += kRoom) {
      uint64_t pixel;
      std::memcpy(&pixel, from, sizeof(pixel));
      pixel &= mask;
      std::memcpy(to, &pixel, sizeof(pixel));
    }
  }

  const Geometry& g_;
  const Work& work_;
  const uint16_t* const zeros_;
  const size_t copied_;  // pixels of a row
  size_t made_ = 0;      // rows before this one, counted with the zeros above, are there
  size_t first_ = 0;     // likewise
};

// Sums of a block of channels for some windows.
struct alignas(kTileRowBytes) Sums {
  float sums[kWindows][kBlock];
};

// Position of the sums in the result.
struct Place {
  size_t block = 0, row = 0, column = 0;
};

HWY_INLINE void load_filters(const Geometry& g, const uint16_t* filters) {
  const size_t apart = g.filter_elements();
  _tile_loadd(3, filters, kTileRowBytes);
  if (g.taps_y > 1) _tile_loadd(4, filters + apart, kTileRowBytes);
  if (g.taps_y > 2) _tile_loadd(5, filters + 2 * apart, kTileRowBytes);
}

// Requirement: the filters are loaded.
HWY_INLINE void multiply(const Geometry& g, const Rows& rows, size_t column, Sums& result) {
  const size_t at = column * g.stride_x * kRoom, step = g.stride_x * kRoom * sizeof(uint16_t);
  _tile_zero(0);
  _tile_loadd(1, rows.under(0) + at, step);
  _tile_dpbf16ps(0, 1, 3);
  if (g.taps_y > 1) {
    _tile_loadd(2, rows.under(1) + at, step);
    _tile_dpbf16ps(0, 2, 4);
  }
  if (g.taps_y > 2) {
    _tile_loadd(1, rows.under(2) + at, step);
    _tile_dpbf16ps(0, 1, 5);
  }
  _tile_stored(0, result.sums, kTileRowBytes);
}

HWY_INLINE void store(const Geometry& g, const Work& work, const Place& place, const Sums& sums) {
  const Floats f;
  const size_t channel = place.block * kBlock,
               channels = std::min(kBlock, g.channels_out - channel);
  const auto stored = static_cast<__mmask16>((1U << channels) - 1);
  const Vector bias = work.bias == nullptr ? hn::Zero(f) : hn::LoadU(f, work.bias + channel);
  const Vector least = hn::Set(f, work.least), most = hn::Set(f, work.most);
  uint16_t* to = work.result + (place.row * g.out_width + place.column) * g.channels_out + channel;
  for (size_t i = 0; i < kWindows; ++i, to += g.channels_out) {
    // In this order a NaN stays a NaN.
    const Vector kept = hn::Min(most, hn::Max(least, hn::Add(hn::Load(f, sums.sums[i]), bias)));
    _mm256_mask_storeu_epi16(to, stored, (__m256i)_mm512_cvtneps_pbh(kept.raw));
  }
}

void run_work(const Geometry& g, const Work& work) {
  kernels::HWY_NAMESPACE::configure_tiles(configuration_of(g));
  Rows rows(g, work);
  // Sums of one block are converted to BF16 while the next are added up.
  Sums sums[2];
  size_t now = 0;
  Place before;
  bool begun = false;
  for (size_t row = work.first_row; row < work.first_row + work.rows; ++row) {
    rows.move_to(row);
    for (size_t block = 0; block < g.blocks(); ++block) {
      load_filters(g, work.filters + block * g.taps_y * g.filter_elements());
      for (size_t x = 0; x < g.out_width; x += kWindows) {
        // The last windows overlap those before them.
        const Place place{block, row, std::min(x, g.out_width - kWindows)};
        multiply(g, rows, place.column, sums[now]);
        now = 1 - now;
        if (begun) store(g, work, before, sums[now]);
        begun = true;
        before = place;
      }
    }
  }
  if (begun) store(g, work, before, sums[1 - now]);
  _tile_release();
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::few_channels::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif

#if HWY_ONCE
namespace millrace::device::cpu::kernels::few_channels {

void arrange_filters(const Geometry& geometry, const float* from, uint16_t* to) noexcept {
  const Geometry& g = geometry;
  for (size_t block = 0; block < g.blocks(); ++block)
    for (size_t y = 0; y < g.taps_y; ++y)
      for (size_t pair = 0; pair < g.taps_x * kRoom; pair += 2)
        for (size_t i = 0; i < 2 * kBlock; ++i) {
          const size_t out = block * kBlock + i / 2, x = pair / kRoom, c = pair % kRoom + i % 2;
          const bool exists = out < g.channels_out && c < g.channels;
          const size_t at = ((out * g.channels + c) * g.taps_y + y) * g.taps_x + x;
          *to++ = exists ? tensor::float_to_bf16(from[at]) : uint16_t{0};
        }
}

void run([[maybe_unused]] const Geometry& geometry, [[maybe_unused]] const Work& work) noexcept {
#if HWY_TARGETS & HWY_AVX3
  N_AVX3::run_work(geometry, work);
#endif
}

}  // namespace millrace::device::cpu::kernels::few_channels
#endif  // HWY_ONCE
