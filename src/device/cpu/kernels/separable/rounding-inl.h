// The epilogue of the 1x1 convolution in BF16: bias, bounds and rounding. Compiled for AVX-512 with
// the instructions for BF16.
#if HWY_TARGET == HWY_AVX3 && !defined(MILLRACE_CPU_SEPARABLE_ROUNDING_INL_H_)
#define MILLRACE_CPU_SEPARABLE_ROUNDING_INL_H_

#include "device/cpu/kernels/separable/rows-inl.h"

MILLRACE_BEFORE_SEPARABLE
namespace millrace::device::cpu::kernels::separable::HWY_NAMESPACE {
namespace {

// Adds the bias to sums of a block of channels, applies the bounds, and rounds to BF16 (in FP32).
//
// The instructions that convert to BF16 and back take a fifth longer than this rounding in FP32: x
// is added to 1.5 * 2^16 * p, where p is the largest power of two below x, and that is subtracted
// again. The sum has the precision of BF16 at x. Values beyond 2^110 may become infinite, and
// infinities NaN.
template <bool kBounded>
struct Finish {
  explicit HWY_INLINE Finish(const Bf16Layer& layer)
      : least(hn::Set(Floats(), layer.least)), most(hn::Set(Floats(), layer.most)) {}

  HWY_INLINE Vector kept(Vector number) const {
    return kBounded ? keep_between(least, most, number) : number;
  }
  static HWY_INLINE Vector rounded(Vector number) {
    const Floats f;
    const hn::Repartition<uint32_t, Floats> bits;
    const Vector power = hn::And(number, hn::BitCast(f, hn::Set(bits, 0xff800000u)));
    const Vector large = hn::Set(f, 1.5F * 0x1p16F);
    return hn::NegMulAdd(power, large, hn::MulAdd(power, large, number));
  }
  HWY_INLINE Vector finish(Vector sum, Vector bias) const {
    return rounded(kept(hn::Add(sum, bias)));
  }

  Vector least, most;
};

}  // namespace
}  // namespace millrace::device::cpu::kernels::separable::HWY_NAMESPACE
MILLRACE_AFTER_SEPARABLE
#endif
