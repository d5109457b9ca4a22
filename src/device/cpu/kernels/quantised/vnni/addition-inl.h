// The epilogue with a residual: the result of the convolution is rounded in its own scale, and the
// residual is added in the scale of the sum. Compiled for AVX-512 VNNI.
//
// Include as sums-inl.h.

#include "device/cpu/kernels/quantised/vnni/sums-inl.h"

#if HWY_TARGET == HWY_AVX3 && !defined(MILLRACE_VNNI_ADDITION_TARGET)
#define MILLRACE_VNNI_ADDITION_TARGET HWY_TARGET

#include <optional>

MILLRACE_BEFORE_VNNI
namespace millrace::device::cpu::kernels::quantised::vnni::HWY_NAMESPACE {
namespace {

// From 2^23 on FP32 has integers only, and one for each bit pattern.
constexpr float kFirstWithoutFraction = 0x1p23F;

// Like with_kind(), specialised by the requantisation of the sum if there is an addition.
template <class Run>
void with_kind(Encoding encoding, const std::optional<Addition>& addition, Run run) {
  if (addition) encoding.requantisation = addition->requantisation;
  with_kind(encoding, run);
}

// Converts the bytes of a wide group to floating point elements, in the order of the sums. They are
// kFirstWithoutFraction too large: a byte in the lowest bits of that number adds to it, which saves
// a conversion.
HWY_INLINE void widen(hn::Vec<Bytes> bytes, hn::Vec<Floats> (&numbers)[kWideVectors]) {
  constexpr uint16_t kUpperHalf = 0x4b00;
  const Shorts shorts;
  const Floats f;
  const auto zero = hn::Zero(Bytes());
  const auto lower = hn::BitCast(shorts, hn::InterleaveLower(Bytes(), bytes, zero));
  const auto upper = hn::BitCast(shorts, hn::InterleaveUpper(Bytes(), bytes, zero));
  const auto exponent = hn::Set(shorts, kUpperHalf);
  numbers[0] = hn::BitCast(f, hn::InterleaveLower(shorts, lower, exponent));
  numbers[1] = hn::BitCast(f, hn::InterleaveUpper(shorts, lower, exponent));
  numbers[2] = hn::BitCast(f, hn::InterleaveLower(shorts, upper, exponent));
  numbers[3] = hn::BitCast(f, hn::InterleaveUpper(shorts, upper, exponent));
}

// Rounds and saturates the convolution's result, without its zero point. Ties round to even.
struct Rounding {
  explicit HWY_INLINE Rounding(const Requantisation& made)
      : least(hn::Set(Floats(), static_cast<float>(made.least - made.zero_point))),
        most(hn::Set(Floats(), static_cast<float>(made.most - made.zero_point))) {}

  // A value between the bounds loses its fraction when it is added to `magic`, which saves a
  // conversion to integers and back.
  HWY_INLINE hn::Vec<Floats> operator()(hn::Vec<Floats> number) const {
    const auto magic = hn::Set(Floats(), 1.5F * kFirstWithoutFraction);
    return hn::Sub(hn::Add(hn::Min(hn::Max(number, least), most), magic), magic);
  }

  hn::Vec<Floats> least, most;
};

// Stores the sums of a pixel with the residual added. `Kind` is that of the addition.
template <class Kind>
HWY_INLINE void store_sum(const Sums<Kind, kWideVectors>& sums, const Encoding& encoding,
                          const Addition& addition, const ScalingView& scaling,
                          const uint8_t* residual, uint8_t* to) {
  const Floats f;
  const Rounding rounding(encoding.requantisation);
  const auto zero_point = hn::Set(f, kFirstWithoutFraction + addition.residual_zero_point);
  const auto result_scale = hn::Set(f, addition.result_scale);
  const auto residual_scale = hn::Set(f, addition.residual_scale);
  hn::Vec<Floats> others[kWideVectors];
  widen(addition.signed_residual ? load<true>(residual) : load<false>(residual), others);
  hn::Vec<Ints> numbers[kWideVectors];
  for (size_t i = 0; i < kWideVectors; ++i) {
    const auto made = hn::Mul(rounding(sums.scaled(scaling, i)), result_scale);
    numbers[i] = rounded(hn::MulAdd(hn::Sub(others[i], zero_point), residual_scale, made));
  }
  hn::StoreU(bytes_of<Kind>(numbers, addition.requantisation), Bytes(), to);
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::quantised::vnni::HWY_NAMESPACE
MILLRACE_AFTER_VNNI
#endif
