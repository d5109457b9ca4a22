// For each plane of 16 channels and each four windows of a row: the bytes of four neighbouring
// pixels are interleaved to words, so that VPDPBUSD adds up a row of taps of a channel in one lane;
// the fourth tap is zero. Four vectors of sums have the 16 channels of the four windows.
#include "device/cpu/kernels/quantised/vnni/plane_loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/quantised/vnni/plane_loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/quantised/vnni/sums-inl.h"
// clang-format on

#if HWY_TARGET == HWY_AVX3
MILLRACE_BEFORE_VNNI
namespace millrace::device::cpu::kernels::quantised::vnni::HWY_NAMESPACE {
namespace {

using kernels::depthwise::kTaps;

// Selects, of eight consecutive pixels, those at even or at odd places.
constexpr int kEven = 0x88, kOdd = 0xdd;
template <int kWhich>
HWY_INLINE hn::Vec<Bytes> every_other(hn::Vec<Bytes> first, hn::Vec<Bytes> second) {
  return hn::Vec<Bytes>{_mm512_shuffle_i32x4(first.raw, second.raw, kWhich)};
}

// Loads the bytes under a row of taps of four windows, a word for each channel of each window.
template <class Kind, size_t kStride>
HWY_INLINE void load_words(const uint8_t* from, hn::Vec<Bytes> (&words)[kWideVectors]) {
  constexpr bool kSigned = Kind::signed_image;
  const auto first = load<kSigned>(from), last = load<kSigned>(from + 2 * kNarrow);
  if constexpr (kStride == 1) {
    interleave(first, load<kSigned>(from + kNarrow), last, last, words);
  } else {
    const auto second = load<kSigned>(from + 4 * kNarrow);
    const auto lasts = every_other<kEven>(last, load<kSigned>(from + 6 * kNarrow));
    interleave(every_other<kEven>(first, second), every_other<kOdd>(first, second), lasts, lasts,
               words);
  }
}

// The filters of a plane, which stay in registers.
struct Filters {
  HWY_INLINE explicit Filters(const int8_t* from) {
    for (auto& row : taps)
      for (auto& words : row) {
        words = hn::LoadU(SignedBytes(), from);
        keep_in_register(words);
        from += kWide;
      }
  }
  hn::Vec<SignedBytes> taps[kTaps][kWideVectors];
};

// Computes four windows of a plane, whose pixels begin `pixels` bytes after those of the row.
template <class Kind, size_t kStride>
HWY_INLINE void filter(const Requantisation& requantisation, const PlaneRow& row,
                       const Filters& filters, const ScalingView& scaling, size_t pixels,
                       uint8_t* to, size_t channels) {
  Sums<Kind, kWideVectors> sums;
  sums.start(scaling);
  for (size_t i = 0; i < kTaps; ++i) {
    hn::Vec<Bytes> words[kWideVectors];
    load_words<Kind, kStride>(row.under[i] + pixels, words);
    for (size_t j = 0; j < kWideVectors; ++j) sums.add(j, words[j], filters.taps[i][j]);
  }
  store_quarters(sums.bytes(requantisation, scaling), to, channels);
}

// The last windows may be computed twice.
template <class Kind, size_t kStride>
void filter_row(const DepthwiseLayer& layer, const PlaneRow& row) {
  const size_t width = layer.geometry.out_width, channels = layer.geometry.channels;
  ScalingView scaling = row.scaling;
  for (size_t plane = 0; plane < channels / kNarrow; ++plane, scaling.skip(kWide)) {
    const Filters filters(row.filters + plane * kTaps * kWideVectors * kWide);
    for (size_t i = 0; i < width; i += kPlaneWindowsAtOnce) {
      const size_t column = std::min(i, width - kPlaneWindowsAtOnce);
      filter<Kind, kStride>(layer.encoding.requantisation, row, filters, scaling,
                            plane * row.plane + column * kStride * kNarrow,
                            row.result + column * channels + plane * kNarrow, channels);
    }
  }
}

void run_row(const DepthwiseLayer& layer, const PlaneRow& row) {
  with_kind(layer.encoding, [&]<class Kind>(Kind) {
    if (layer.geometry.stride == 1)
      filter_row<Kind, 1>(layer, row);
    else
      filter_row<Kind, 2>(layer, row);
  });
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::quantised::vnni::HWY_NAMESPACE
MILLRACE_AFTER_VNNI
#endif

#if HWY_ONCE
namespace millrace::device::cpu::kernels::quantised::vnni {

std::vector<int8_t> arranged_in_planes(size_t channels, const std::vector<int8_t>& filters) {
  constexpr size_t kTaps = kernels::depthwise::kTaps, kPixels = 4;
  std::vector<int8_t> arranged;
  for (size_t first = 0; first < channels; first += kNarrow)
    for (size_t row = 0; row < kTaps; ++row)
      for (size_t i = 0; i < kWide * kPixels; ++i) {
        const size_t channel = first + channel_in_plane(i / kPixels), tap = i % kPixels;
        arranged.push_back(tap < kTaps ? filters[(channel * kTaps + row) * kTaps + tap]
                                       : int8_t{0});
      }
  return arranged;
}

// With a stride of 2, vectors begin at every fourth pixel, and the last one ends after the last
// window.
size_t plane_columns(const kernels::depthwise::Geometry& geometry) {
  return kernels::depthwise::columns_under(geometry.out_width, geometry.stride) + geometry.stride -
         1;
}

void run([[maybe_unused]] const DepthwiseLayer& layer,
         [[maybe_unused]] const PlaneRow& row) noexcept {
#if HWY_TARGETS & HWY_AVX3
  N_AVX3::run_row(layer, row);
#endif
}

}  // namespace millrace::device::cpu::kernels::quantised::vnni
#endif  // HWY_ONCE
