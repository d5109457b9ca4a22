// For each group of channels and each four windows of a row, the loops go through the three rows of
// taps, split the pixels under the windows into even and odd channels, and multiply and add them to
// the sums of all windows that they are under. The windows at the border of the image are computed
// one by one, with zeros in place of pixels beside it.
#include "device/cpu/kernels/depthwise/loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/depthwise/loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/keep_between-inl.h"
#include "tensor/conversion/codecs-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::depthwise::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using kernels::HWY_NAMESPACE::keep_between;

// Vector operations on a group of channels, two channels to each lane.
template <size_t kSize>
struct Group {
  using Bits = hn::CappedTag<uint32_t, kSize / 2>;
  using Floats = hn::CappedTag<float, kSize / 2>;
  using Vector = hn::Vec<Floats>;

  static HWY_INLINE Vector even(hn::Vec<Bits> pixel) {
    return hn::BitCast(Floats(), hn::ShiftLeft<16>(pixel));
  }
  static HWY_INLINE Vector odd(hn::Vec<Bits> pixel) {
    return hn::BitCast(Floats(), hn::And(pixel, hn::Set(Bits(), 0xffff0000u)));
  }
  static HWY_INLINE hn::Vec<Bits> load(const uint16_t* from) {
    const hn::Repartition<uint16_t, Bits> shorts;
    return hn::BitCast(Bits(), hn::LoadU(shorts, from));
  }

  // Applies the bounds and rounds to BF16, whose bits are the upper half of each lane.
  //
  // A NaN stays a NaN: keep_between() keeps it, and NaNs of BF16 elements and of
  // arranged biases have zeros in the lower half of their bits, so that rounding carries nothing.
  static HWY_INLINE hn::Vec<Bits> finish(const Layer& layer, Vector sum) {
    const Floats f;
    const Bits u;
    const Vector kept = keep_between(hn::Set(f, layer.least), hn::Set(f, layer.most), sum);
    const auto bits = hn::BitCast(u, kept);
    const auto is_odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u, 1u));
    return hn::Add(hn::Add(bits, hn::Set(u, 0x7fffu)), is_odd);
  }
  static HWY_INLINE void store(hn::Vec<Bits> even, hn::Vec<Bits> odd, uint16_t* to) {
    const hn::Repartition<uint16_t, Bits> shorts;
    hn::StoreU(hn::OddEven(hn::BitCast(shorts, odd), hn::BitCast(shorts, hn::ShiftRight<16>(even))),
               shorts, to);
  }
};

// Computes kCount windows of a row for the group of channels that begins with `first`.
template <size_t kSize, size_t kStride, size_t kCount, class Windows>
HWY_INLINE void filter(const Layer& layer, const Windows& windows, size_t first,
                       const float* filters, const float* bias, uint16_t* to) {
  using Lanes = Group<kSize>;
  using Vector = typename Lanes::Vector;
  const typename Lanes::Floats f;
  constexpr size_t kHalf = kSize / 2;
  const Vector even_bias = bias == nullptr ? hn::Zero(f) : hn::LoadU(f, bias);
  const Vector odd_bias = bias == nullptr ? hn::Zero(f) : hn::LoadU(f, bias + kHalf);
  Vector even[kCount], odd[kCount];
  for (size_t i = 0; i < kCount; ++i) {
    even[i] = even_bias;
    odd[i] = odd_bias;
  }
  for (size_t row = 0; row < kTaps; ++row, filters += kTaps * kSize) {
    Vector even_taps[kTaps], odd_taps[kTaps];
    for (size_t tap = 0; tap < kTaps; ++tap) {
      even_taps[tap] = hn::LoadU(f, filters + tap * kSize);
      odd_taps[tap] = hn::LoadU(f, filters + tap * kSize + kHalf);
    }
    constexpr size_t kColumns = columns_under(kCount, kStride);
    Vector even_columns[kColumns], odd_columns[kColumns];
    for (size_t i = 0; i < kColumns; ++i) {
      const auto pixel = Lanes::load(windows.pixel(row, i) + first);
      even_columns[i] = Lanes::even(pixel);
      odd_columns[i] = Lanes::odd(pixel);
    }
    for (size_t i = 0; i < kCount; ++i)
      for (size_t tap = 0; tap < kTaps; ++tap) {
        even[i] = hn::MulAdd(even_taps[tap], even_columns[i * kStride + tap], even[i]);
        odd[i] = hn::MulAdd(odd_taps[tap], odd_columns[i * kStride + tap], odd[i]);
      }
  }
  for (size_t i = 0; i < kCount; ++i)
    Lanes::store(Lanes::finish(layer, even[i]), Lanes::finish(layer, odd[i]),
                 to + i * layer.geometry.channels + first);
}

template <size_t kSize, size_t kStride, size_t kCount, class Windows>
void filter_channels(const Layer& layer, const Work& work, size_t row, size_t column) {
  const Geometry& g = layer.geometry;
  const Windows windows(g, work.image, work.zeros, row, column);
  uint16_t* const to = work.result + (row * g.out_width + column) * g.channels;
  const Groups groups = layer.groups;
  const size_t count = groups.count();
  for (size_t i = 0; i < count; ++i) {
    const size_t first = groups.first(i);
    const float* const filters = work.filters + i * kTaps * kTaps * kSize;
    const float* const bias = work.bias == nullptr ? nullptr : work.bias + i * kSize;
    if (groups.is_half(i))
      filter<kSize / 2, kStride, kCount>(layer, windows, first, filters, bias, to);
    else
      filter<kSize, kStride, kCount>(layer, windows, first, filters, bias, to);
  }
}

template <size_t kSize, size_t kStride>
void filter_rows(const Layer& layer, const Work& work) {
  constexpr size_t kAtOnce = 4;
  using Inner = Pixels<uint16_t>;
  using Edge = EdgePixels<uint16_t>;
  const Inside inside(layer.geometry);
  for (size_t row = work.first_row; row < work.first_row + work.rows; ++row) {
    size_t x = 0;
    for (; x < inside.begin; ++x) filter_channels<kSize, kStride, 1, Edge>(layer, work, row, x);
    for (; x + kAtOnce <= inside.end; x += kAtOnce)
      filter_channels<kSize, kStride, kAtOnce, Inner>(layer, work, row, x);
    for (; x < layer.geometry.out_width; ++x)
      filter_channels<kSize, kStride, 1, Edge>(layer, work, row, x);
  }
}

// BF16 is computed with AVX-512 only; the size is 0 otherwise.
constexpr size_t kSize = HWY_TARGET <= HWY_AVX3 ? hn::MaxLanes(hn::CappedTag<uint16_t, 32>()) : 0;

template <size_t kAnySize>
void filter_with([[maybe_unused]] const Layer& layer, [[maybe_unused]] const Work& work) {
  if constexpr (kAnySize != 0) {
    if (layer.geometry.stride == 1)
      filter_rows<kAnySize, 1>(layer, work);
    else
      filter_rows<kAnySize, 2>(layer, work);
  }
}

void run_work(const Layer& layer, const Work& work) {
  filter_with<kSize>(layer, work);
}

size_t group_size() {
  return kSize;
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::depthwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels::depthwise {

HWY_EXPORT(run_work);
HWY_EXPORT(group_size);

Groups groups_of(size_t channels) noexcept {
  const size_t size = HWY_DYNAMIC_DISPATCH(group_size)();
  return {channels, channels >= size ? size : 0};
}

void arrange(const Groups& groups, size_t each, const float* from, float* to) noexcept {
  for (size_t group = 0; group < groups.count(); ++group) {
    const size_t half = groups.size_of(group) / 2;
    for (size_t i = 0; i < each; ++i)
      for (size_t lane = 0; lane < 2 * half; ++lane) {
        const size_t channel = groups.first(group) + lane % half * 2 + lane / half;
        to[(group * each * groups.size) + i * 2 * half + lane] = from[channel * each + i];
      }
  }
}

void run(const Layer& layer, const Work& work) noexcept {
  HWY_DYNAMIC_DISPATCH(run_work)(layer, work);
}

}  // namespace millrace::device::cpu::kernels::depthwise
#endif  // HWY_ONCE
