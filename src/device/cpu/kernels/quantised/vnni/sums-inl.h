// Sums of products of bytes, for the loops of this folder: a part of each that is compiled for
// AVX-512 VNNI.
//
// Include between foreach_target.h and the code of a target, with highway.h before.

// Highway 1.0.3 has no target with VPDPBUSD. MILLRACE_VNNI_TARGET is where the loops are compiled.
#if HWY_TARGET == HWY_AVX3 && !defined(MILLRACE_VNNI_TARGET)
#define MILLRACE_VNNI_TARGET HWY_TARGET
#define MILLRACE_BEFORE_VNNI HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni")
#define MILLRACE_AFTER_VNNI HWY_POP_ATTRIBUTES

#include "device/cpu/kernels/quantised/vnni/channel_groups.h"

MILLRACE_BEFORE_VNNI
namespace millrace::device::cpu::kernels::quantised::vnni::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::CappedTag<uint8_t, kWide>;
using Shorts = hn::Repartition<int16_t, Bytes>;
using Ints = hn::Repartition<int32_t, Bytes>;
using Floats = hn::Repartition<float, Bytes>;

// Between INT8, and UINT8 with 128 added.
template <class D>
HWY_INLINE hn::Vec<D> shifted(D d, hn::Vec<D> bytes) {
  return hn::Xor(bytes, hn::Set(d, uint8_t{128}));
}

// The sums of kVectors vectors of channels: of a wide group, or of a narrow one.
template <size_t kVectors>
struct Sums {
  static constexpr size_t kSize = kVectors * kNarrow;
  static_assert(kSize == kWide || kSize == kNarrow);

  HWY_INLINE void start(const ScalingView& scaling) {
    for (size_t i = 0; i < kVectors; ++i) sums[i] = hn::LoadU(Ints(), scaling.starts + i * kNarrow);
  }

  // Adds to each sum of a vector the products of four bytes; those of `x` are UINT8. `filters` has
  // those of all channels of the group.
  HWY_INLINE void add(size_t vector, hn::Vec<Bytes> x, const int8_t* filters) {
    const hn::Repartition<int8_t, Bytes> d;
    const auto taps = hn::LoadU(d, filters + vector * kWide);
    sums[vector].raw = _mm512_dpbusd_epi32(sums[vector].raw, x.raw, taps.raw);
  }

  // Bounds are applied to bytes: to round keeps the order of numbers, so that it does not matter
  // that they are rounded first.
  HWY_INLINE void store(const Storing& storing, const ScalingView& scaling, uint8_t* to) const {
    if constexpr (kVectors == 1) {
      // Saturates from below, then from above.
      const auto number = hn::Add(scaled(scaling, 0), hn::Set(Ints(), storing.zero_point));
      const auto kept = hn::Max(number, hn::Zero(Ints()));
      store_bytes(hn::CappedTag<uint8_t, kNarrow>(), storing, _mm512_cvtusepi32_epi8(kept.raw), to);
    } else {
      const auto packed = _mm512_packus_epi16(half(storing, scaling, 0).raw,
                                              half(storing, scaling, kVectors / 2).raw);
      store_bytes(Bytes(), storing, packed, to);
    }
  }

  hn::Vec<Ints> sums[kVectors];

 private:
  template <class D, class Raw>
  static HWY_INLINE void store_bytes(D d, const Storing& storing, Raw raw, uint8_t* to) {
    const hn::Vec<D> bytes{raw};
    const auto kept = hn::Min(hn::Max(bytes, hn::Set(d, storing.least)), hn::Set(d, storing.most));
    hn::StoreU(storing.to_signed ? shifted(d, kept) : kept, d, to);
  }

  // First the bias, then the factor, as the library does it. Ties round to even numbers.
  HWY_INLINE hn::Vec<Ints> scaled(const ScalingView& scaling, size_t vector) const {
    const Floats f;
    const auto bias = hn::LoadU(f, scaling.biases + vector * kNarrow);
    const auto factor = hn::LoadU(f, scaling.factors + vector * kNarrow);
    const auto sum = hn::Add(hn::ConvertTo(f, sums[vector]), bias);
    return hn::Vec<Ints>{_mm512_cvtps_epi32(hn::Mul(sum, factor).raw)};
  }

  // Two vectors of sums.
  HWY_INLINE hn::Vec<Shorts> half(const Storing& storing, const ScalingView& scaling,
                                  size_t first) const {
    const Shorts d;
    const auto shorts = hn::ReorderDemote2To(d, scaled(scaling, first), scaled(scaling, first + 1));
    return hn::SaturatedAdd(shorts, hn::Set(d, storing.zero_point));
  }
};

}  // namespace
}  // namespace millrace::device::cpu::kernels::quantised::vnni::HWY_NAMESPACE
MILLRACE_AFTER_VNNI
#endif
