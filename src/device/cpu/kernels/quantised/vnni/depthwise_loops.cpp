// For each 64 channels and each two windows of a row: the bytes of four neighbouring pixels are
// interleaved to words, so that VPDPBUSD adds up a row of taps of a channel in one lane. With
// stride 1 both windows use the same words, the second one with filters that are shifted by a tap.
#include "device/cpu/kernels/quantised/vnni/depthwise_loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/quantised/vnni/depthwise_loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/quantised/vnni/sums-inl.h"
// clang-format on

#if HWY_TARGET == HWY_AVX3
MILLRACE_BEFORE_VNNI
namespace millrace::device::cpu::kernels::quantised::vnni::HWY_NAMESPACE {
namespace {

using kernels::depthwise::columns_under;
using kernels::depthwise::Geometry;
using kernels::depthwise::kTaps;

// Computes two windows for a group of channels, from `first` on.
template <class Kind, size_t kStride, class Windows>
HWY_INLINE void filter(const DepthwiseLayer& layer, const Windows& windows, const int8_t* filters,
                       const ScalingView& scaling, size_t first, uint8_t* to) {
  Sums<Kind, kWideVectors> one, other;
  one.start(scaling);
  other.start(scaling);
  for (size_t row = 0; row < kTaps; ++row, filters += kWindowsAtOnce * kWideVectors * kWide) {
    const auto a = load<Kind::signed_image>(windows.pixel(row, 0) + first);
    const auto b = load<Kind::signed_image>(windows.pixel(row, 1) + first);
    const auto c = load<Kind::signed_image>(windows.pixel(row, 2) + first);
    const auto d = load<Kind::signed_image>(windows.pixel(row, 3) + first);
    hn::Vec<Bytes> words[kWideVectors];
    interleave(a, b, c, d, words);
    add(words, filters, one);
    if constexpr (kStride == 1) {
      add(words, filters + kWideVectors * kWide, other);
    } else {
      const auto e = load<Kind::signed_image>(windows.pixel(row, 4) + first);
      interleave(c, d, e, e, words);
      add(words, filters, other);
    }
  }
  one.store(layer.encoding.requantisation, scaling, to + first);
  other.store(layer.encoding.requantisation, scaling, to + layer.geometry.channels + first);
}

// Computes two windows for all channels.
template <class Kind, size_t kStride, class Windows>
HWY_INLINE void filter_channels(const DepthwiseLayer& layer, const DepthwiseWork& work, size_t row,
                                size_t column) {
  const Geometry& g = layer.geometry;
  const Windows windows(g, work.image, work.padding, row, column);
  uint8_t* const to = work.result + (row * g.out_width + column) * g.channels;
  const int8_t* filters = work.filters;
  ScalingView scaling = work.scaling;
  for (size_t first = 0; first < g.channels; first += kWide) {
    filter<Kind, kStride>(layer, windows, filters, scaling, first, to);
    filters += kTaps * kWindowsAtOnce * kWideVectors * kWide;
    scaling.skip(kWide);
  }
}

// If the number of windows is odd, the last but one is computed twice.
template <class Kind, size_t kStride>
void filter_rows(const DepthwiseLayer& layer, const DepthwiseWork& work) {
  using Inner = kernels::depthwise::Pixels<uint8_t>;
  using Edge = kernels::depthwise::EdgePixels<uint8_t, columns_under(kWindowsAtOnce, kStride)>;
  const kernels::depthwise::Inside inside(layer.geometry);
  const size_t width = layer.geometry.out_width;
  for (size_t row = work.first_row; row < work.first_row + work.rows; ++row)
    for (size_t i = 0; i < width; i += kWindowsAtOnce) {
      const size_t x = std::min(i, width - kWindowsAtOnce);
      if (x >= inside.begin && x + kWindowsAtOnce <= inside.end)
        filter_channels<Kind, kStride, Inner>(layer, work, row, x);
      else
        filter_channels<Kind, kStride, Edge>(layer, work, row, x);
    }
}

void run_work(const DepthwiseLayer& layer, const DepthwiseWork& work) {
  with_kind(layer.encoding, [&]<class Kind>(Kind) {
    if (layer.geometry.stride == 1)
      filter_rows<Kind, 1>(layer, work);
    else
      filter_rows<Kind, 2>(layer, work);
  });
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::quantised::vnni::HWY_NAMESPACE
MILLRACE_AFTER_VNNI
#endif

#if HWY_ONCE
namespace millrace::device::cpu::kernels::quantised::vnni {

std::vector<int8_t> arranged_depthwise(size_t channels, const std::vector<int8_t>& filters) {
  constexpr size_t kTaps = kernels::depthwise::kTaps, kPixels = 4;
  std::vector<int8_t> arranged;
  for (const Group& group : groups_of(channels))
    for (size_t row = 0; row < kTaps; ++row)
      for (size_t shift = 0; shift < kWindowsAtOnce; ++shift)
        for (size_t i = 0; i < group.size * kPixels; ++i) {
          const size_t tap = i % kPixels - shift;  // wraps around before the first
          const size_t at = (group.channel(i / kPixels) * kTaps + row) * kTaps + tap;
          arranged.push_back(tap < kTaps ? filters[at] : int8_t{0});
        }
  return arranged;
}

void run([[maybe_unused]] const DepthwiseLayer& layer,
         [[maybe_unused]] const DepthwiseWork& work) noexcept {
#if HWY_TARGETS & HWY_AVX3
  N_AVX3::run_work(layer, work);
#endif
}

}  // namespace millrace::device::cpu::kernels::quantised::vnni
#endif  // HWY_ONCE
