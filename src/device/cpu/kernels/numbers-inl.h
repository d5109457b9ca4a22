// Loads and stores FP32 or BF16 elements as vectors of FP32. Included once per instruction set.
#if defined(MILLRACE_CPU_NUMBERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MILLRACE_CPU_NUMBERS_INL_H_
#undef MILLRACE_CPU_NUMBERS_INL_H_
#else
#define MILLRACE_CPU_NUMBERS_INL_H_
#endif

#include <hwy/highway.h>

#include "tensor/conversion/codecs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::HWY_NAMESPACE {

template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_numbers(D d, const float* from) {
  return hwy::HWY_NAMESPACE::LoadU(d, from);
}
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_numbers(D d, const uint16_t* from) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<uint16_t, D> halves;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(halves, from))));
}

template <class D>
HWY_INLINE void store_numbers(D d, hwy::HWY_NAMESPACE::Vec<D> numbers, float* to) {
  hwy::HWY_NAMESPACE::StoreU(numbers, d, to);
}
// Rounds to nearest, ties to even.
template <class D>
HWY_INLINE void store_numbers(D, hwy::HWY_NAMESPACE::Vec<D> numbers, uint16_t* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> bits;
  const hn::RebindToSigned<D> ints;
  const hn::Rebind<uint16_t, D> halves;
  const tensor::HWY_NAMESPACE::Bf16Codec codec{{}};
  const auto lanes = codec.encode(bits, hn::BitCast(bits, numbers));
  hn::StoreU(hn::DemoteTo(halves, hn::BitCast(ints, lanes)), halves, to);
}

}  // namespace millrace::device::cpu::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
