// Sums of products of bytes and their requantisation, the epilogue of the loops of this folder and
// of amx: byte = saturate(round((sum + bias) * factor) + zero point). Compiled for AVX-512 VNNI.
//
// Include between foreach_target.h and the code of a target, with highway.h before.

#include "device/cpu/kernels/registers-inl.h"  // once for each target, so before the guard

// Highway 1.0.3 has no target with VPDPBUSD, so these loops are compiled for that with AVX-512, and
// further instructions. MILLRACE_VNNI_TARGET guards this file, which is for one target only.
#if HWY_TARGET == HWY_AVX3 && !defined(MILLRACE_VNNI_TARGET)
#define MILLRACE_VNNI_TARGET HWY_TARGET
#define MILLRACE_BEFORE_VNNI HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni")
#define MILLRACE_AFTER_VNNI HWY_POP_ATTRIBUTES

#include "device/cpu/kernels/quantised/vnni/channel_groups.h"

MILLRACE_BEFORE_VNNI
namespace millrace::device::cpu::kernels::quantised::vnni::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using kernels::HWY_NAMESPACE::keep_in_register;  // for the loops

using Bytes = hn::CappedTag<uint8_t, kWide>;
using SignedBytes = hn::Repartition<int8_t, Bytes>;
using Shorts = hn::Repartition<int16_t, Bytes>;
using Ints = hn::Repartition<int32_t, Bytes>;
using Floats = hn::Repartition<float, Bytes>;

// Converts between INT8 and UINT8 with 128 added.
template <class D>
HWY_INLINE hn::Vec<D> shifted(D d, hn::Vec<D> bytes) {
  return hn::Xor(bytes, hn::Set(d, uint8_t{128}));
}

template <bool kSigned>
HWY_INLINE hn::Vec<Bytes> load(const uint8_t* from) {
  const auto bytes = hn::LoadU(Bytes(), from);
  return kSigned ? shifted(Bytes(), bytes) : bytes;
}

// Interleaves the bytes of four pixels to words, in the order of a wide group.
constexpr size_t kWideVectors = kWide / kNarrow;
HWY_INLINE void interleave(hn::Vec<Bytes> a, hn::Vec<Bytes> b, hn::Vec<Bytes> c, hn::Vec<Bytes> d,
                           hn::Vec<Bytes> (&words)[kWideVectors]) {
  const Bytes bytes;
  const Shorts shorts;
  const auto ab = hn::BitCast(shorts, hn::InterleaveLower(bytes, a, b));
  const auto cd = hn::BitCast(shorts, hn::InterleaveLower(bytes, c, d));
  const auto ab_upper = hn::BitCast(shorts, hn::InterleaveUpper(bytes, a, b));
  const auto cd_upper = hn::BitCast(shorts, hn::InterleaveUpper(bytes, c, d));
  words[0] = hn::BitCast(bytes, hn::InterleaveLower(shorts, ab, cd));
  words[1] = hn::BitCast(bytes, hn::InterleaveUpper(shorts, ab, cd));
  words[2] = hn::BitCast(bytes, hn::InterleaveLower(shorts, ab_upper, cd_upper));
  words[3] = hn::BitCast(bytes, hn::InterleaveUpper(shorts, ab_upper, cd_upper));
}

HWY_INLINE void store_quarter(__m128i quarter, uint8_t* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), quarter);
}
// Stores the quarters of a vector, 16 bytes each, `step` bytes apart.
HWY_INLINE void store_quarters(hn::Vec<Bytes> bytes, uint8_t* to, size_t step) {
  store_quarter(_mm512_castsi512_si128(bytes.raw), to);
  store_quarter(_mm512_extracti32x4_epi32(bytes.raw, 1), to + step);
  store_quarter(_mm512_extracti32x4_epi32(bytes.raw, 2), to + 2 * step);
  store_quarter(_mm512_extracti32x4_epi32(bytes.raw, 3), to + 3 * step);
}

// The cases for which loops are compiled separately. In most layers of a network a sum is only
// scaled and rounded, and everything else would take as long as the products of a few channels.
template <bool kSignedImage, bool kOnlyScales>
struct Kind {
  static constexpr bool signed_image = kSignedImage;
  // True if there are no biases, no zero point, and no other bounds than those of UINT8.
  static constexpr bool only_scales = kOnlyScales;
};
// Calls run(Kind).
template <class Run>
void with_kind(const Encoding& encoding, Run run) {
  const bool only_scales = encoding.requantisation.only_saturates() && !encoding.adds_biases;
  if (encoding.signed_image)
    only_scales ? run(Kind<true, true>()) : run(Kind<true, false>());
  else
    only_scales ? run(Kind<false, true>()) : run(Kind<false, false>());
}

// Applies the bounds to bytes. Rounding keeps the order of elements, so the bounds may follow it.
template <class Kind, class D, class Raw>
HWY_INLINE hn::Vec<D> bounded(D d, const Requantisation& requantisation, Raw raw) {
  const hn::Vec<D> bytes{raw};
  if (Kind::only_scales) return bytes;
  const auto kept =
      hn::Min(hn::Max(bytes, hn::Set(d, requantisation.least)), hn::Set(d, requantisation.most));
  return requantisation.to_signed ? shifted(d, kept) : kept;
}

// Adds the zero point to the rounded elements of a wide group, and saturates them to bytes.
template <class Kind>
HWY_INLINE hn::Vec<Bytes> bytes_of(const hn::Vec<Ints> (&numbers)[kWideVectors],
                                   const Requantisation& requantisation) {
  const Shorts d;
  auto lower = hn::ReorderDemote2To(d, numbers[0], numbers[1]);
  auto upper = hn::ReorderDemote2To(d, numbers[2], numbers[3]);
  if (!Kind::only_scales) {
    const auto zero_point = hn::Set(d, requantisation.zero_point);
    lower = hn::SaturatedAdd(lower, zero_point);
    upper = hn::SaturatedAdd(upper, zero_point);
  }
  return bounded<Kind>(Bytes(), requantisation, _mm512_packus_epi16(lower.raw, upper.raw));
}

// Rounds to the nearest integers, ties to even.
HWY_INLINE hn::Vec<Ints> rounded(hn::Vec<Floats> numbers) {
  return hn::Vec<Ints>{_mm512_cvtps_epi32(numbers.raw)};
}

// The sums of a group of channels in kVectors vectors: of a wide group, or of a narrow one.
template <class Kind, size_t kVectors>
struct Sums {
  static constexpr size_t kSize = kVectors * kNarrow;
  static_assert(kSize == kWide || kSize == kNarrow);

  HWY_INLINE void start(const ScalingView& scaling) {
    for (size_t i = 0; i < kVectors; ++i) sums[i] = hn::LoadU(Ints(), scaling.starts + i * kNarrow);
  }

  // Adds to each sum of a vector the products of four bytes; those of `x` are UINT8.
  HWY_INLINE void add(size_t vector, hn::Vec<Bytes> x, hn::Vec<SignedBytes> filters) {
    sums[vector].raw = _mm512_dpbusd_epi32(sums[vector].raw, x.raw, filters.raw);
  }

  // Adds the bias, then multiplies by the factor, in the order of oneDNN.
  HWY_INLINE hn::Vec<Floats> scaled(const ScalingView& scaling, size_t vector) const {
    const Floats f;
    auto sum = hn::ConvertTo(f, sums[vector]);
    if (!Kind::only_scales) sum = hn::Add(sum, hn::LoadU(f, scaling.biases + vector * kNarrow));
    return hn::Mul(sum, hn::LoadU(f, scaling.factors + vector * kNarrow));
  }

  // Returns the bytes of the group, in a vector of that size.
  HWY_INLINE auto bytes(const Requantisation& requantisation, const ScalingView& scaling) const {
    if constexpr (kVectors == 1) {
      // Saturates from below; the conversion to bytes saturates from above.
      auto number = rounded(scaled(scaling, 0));
      if (!Kind::only_scales) number = hn::Add(number, hn::Set(Ints(), requantisation.zero_point));
      const auto kept = hn::Max(number, hn::Zero(Ints()));
      return bounded<Kind>(hn::CappedTag<uint8_t, kNarrow>(), requantisation,
                           _mm512_cvtusepi32_epi8(kept.raw));
    } else {
      hn::Vec<Ints> numbers[kVectors];
      for (size_t i = 0; i < kVectors; ++i) numbers[i] = rounded(scaled(scaling, i));
      return bytes_of<Kind>(numbers, requantisation);
    }
  }

  HWY_INLINE void store(const Requantisation& requantisation, const ScalingView& scaling,
                        uint8_t* to) const {
    hn::StoreU(bytes(requantisation, scaling), hn::CappedTag<uint8_t, kSize>(), to);
  }

  hn::Vec<Ints> sums[kVectors];
};

template <class Kind>
HWY_INLINE void add(const hn::Vec<Bytes> (&words)[kWideVectors], const int8_t* filters,
                    Sums<Kind, kWideVectors>& sums) {
  for (size_t i = 0; i < kWideVectors; ++i)
    sums.add(i, words[i], hn::LoadU(SignedBytes(), filters + i * kWide));
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::quantised::vnni::HWY_NAMESPACE
MILLRACE_AFTER_VNNI
#endif
