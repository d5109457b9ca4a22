// The exponential of numbers that are not positive, as a softmax has them. Included once per
// instruction set.
#if defined(MILLRACE_CPU_EXPONENTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MILLRACE_CPU_EXPONENTIAL_INL_H_
#undef MILLRACE_CPU_EXPONENTIAL_INL_H_
#else
#define MILLRACE_CPU_EXPONENTIAL_INL_H_
#endif

#include <hwy/highway.h>

#include "device/cpu/kernels/keep_between-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::HWY_NAMESPACE {

// Computes x * 2^power, with one rounding where that is a denormal number. The power is a whole
// number from -254 to 0, or NaN together with x.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V times_power_of_two(D d, V x, V power) {
  namespace hn = hwy::HWY_NAMESPACE;
  // 2^power may be no number of FP32, so it is a product of two that are.
  const hn::RebindToSigned<D> ints;
  const auto bias = hn::Set(ints, 127), whole = hn::ConvertTo(ints, power);
  const auto half = hn::ShiftRight<1>(whole);
  const auto first = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const auto second = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(whole, half), bias)));
  return hn::Mul(hn::Mul(x, first), second);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
HWY_INLINE hwy::HWY_NAMESPACE::Vec512<float> times_power_of_two(
    hwy::HWY_NAMESPACE::ScalableTag<float>, hwy::HWY_NAMESPACE::Vec512<float> x,
    hwy::HWY_NAMESPACE::Vec512<float> power) {
  return hwy::HWY_NAMESPACE::Vec512<float>{_mm512_scalef_ps(x.raw, power.raw)};
}
#endif

// Computes e^x within 1.2 units in the last place; NaN for NaN, and 0 for -inf. Requirement: x is
// not positive. With x = n log(2) + r, where n is a whole number and |r| <= log(2) / 2, it is
// 2^n e^r, and e^r a polynomial.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exponential_of_negative(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  // The result rounds to 0 from here on.
  x = at_least(hn::Set(d, -104.0f), x);
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  // log(2) in two parts, of which the first has so few bits that its product with n is exact.
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  // 1 + r + c2 r^2 + ... + c6 r^6 has the least relative error that such a polynomial can have.
  V sum = hn::Set(d, 1.3814599e-3f);
  for (const float coefficient :
       {8.3687166e-3f, 4.1668389e-2f, 0.16666521f, 0.49999994f, 1.0f, 1.0f})
    sum = hn::MulAdd(sum, r, hn::Set(d, coefficient));
  return times_power_of_two(d, sum, n);
}

}  // namespace millrace::device::cpu::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
