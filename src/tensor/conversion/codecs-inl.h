// Codecs between vectors of FLOAT32 and of narrower element types: encode() turns a vector of
// FLOAT32 bit patterns into elements, each in the low bits of a 32-bit lane with zeros above, and
// decode() does the opposite. Their results equal those of element.h bit for bit, with rounding to
// nearest even. Included once per instruction set by Highway (foreach_target.h).
#if defined(MILLRACE_TENSOR_CODECS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MILLRACE_TENSOR_CODECS_INL_H_
#undef MILLRACE_TENSOR_CODECS_INL_H_
#else
#define MILLRACE_TENSOR_CODECS_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "tensor/element.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using FloatTag = hn::Rebind<float, D>;
template <class D>
using IntTag = hn::Rebind<int32_t, D>;

struct FloatCodec {
  static constexpr size_t kBytes = 4;
  explicit FloatCodec(const ElementRule&) {}

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V encode(D, V bits) const {
    return bits;
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V decode(D, V lane) const {
    return lane;
  }
};

struct Bf16Codec {
  static constexpr size_t kBytes = 2;
  explicit Bf16Codec(const ElementRule&) {}

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V encode(D d, V bits) const {
    const V upper = hn::ShiftRight<16>(bits);
    const V odd = hn::And(upper, hn::Set(d, 1u));
    const V rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(d, 0x7fffu)), odd));
    const V quiet = hn::Or(upper, hn::Set(d, 0x40u));
    const FloatTag<D> df;
    const auto value = hn::BitCast(df, bits);
    return hn::IfThenElse(hn::RebindMask(d, hn::Eq(value, value)), rounded, quiet);
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V decode(D, V lane) const {
    return hn::ShiftLeft<16>(lane);
  }
};

// Only for targets with a conversion instruction (F16C, AVX-512). It ignores the rounding mode and
// keeps subnormals and NaN as half.h does, while the emulation of Highway does not.
#undef MILLRACE_HAVE_FP16
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
#define MILLRACE_HAVE_FP16 1
struct Fp16Codec {
  static constexpr size_t kBytes = 2;
  explicit Fp16Codec(const ElementRule&) {}

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V encode(D d, V bits) const {
    const hn::Rebind<hwy::float16_t, D> dh;
    const hn::Rebind<uint16_t, D> d16;
    const auto half = hn::DemoteTo(dh, hn::BitCast(FloatTag<D>(), bits));
    return hn::PromoteTo(d, hn::BitCast(d16, half));
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V decode(D d, V lane) const {
    const hn::Rebind<hwy::float16_t, D> dh;
    const hn::Rebind<uint16_t, D> d16;
    const auto half = hn::DemoteTo(d16, hn::BitCast(IntTag<D>(), lane));
    return hn::BitCast(d, hn::PromoteTo(FloatTag<D>(), hn::BitCast(dh, half)));
  }
};
#else
#define MILLRACE_HAVE_FP16 0
#endif

// Quantises to INT8 or UINT8 with rounding to nearest even, and dequantises.
template <class T>
struct QuantCodec {
  static constexpr size_t kBytes = 1;
  explicit QuantCodec(const ElementRule& rule)
      : scale(rule.scale),
        inverse(1.0f / rule.scale),
        inverse_is_exact(is_power_of_two(rule.scale) && is_power_of_two(inverse)),
        zero_point(rule.zero_point) {}

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V encode(D d, V bits) const {
    const FloatTag<D> df;
    const auto value = hn::BitCast(df, bits);
    // The zero point has 8 bits, so this addition is inexact only for values far outside the range
    // of T, which are clamped.
    const auto ratio = inverse_is_exact ? hn::Mul(value, hn::Set(df, inverse))
                                        : hn::Div(value, hn::Set(df, scale));
    const auto shifted = hn::Add(hn::Round(ratio), hn::Set(df, static_cast<float>(zero_point)));
    const auto clamped = hn::Min(hn::Max(shifted, hn::Set(df, kLowest)), hn::Set(df, kHighest));
    const auto number = hn::IfThenElseZero(hn::Eq(value, value), clamped);
    // Adding 1.5 * 2^23 to a small integer leaves that integer in the low bits of the significand,
    // exactly; negative ones in two's complement.
    const V whole = hn::BitCast(d, hn::Add(number, hn::Set(df, 0x1.8p+23f)));
    return hn::And(whole, hn::Set(d, 0xffu));
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V decode(D d, V lane) const {
    const FloatTag<D> df;
    const IntTag<D> di;
    auto whole = hn::BitCast(di, lane);
    if constexpr (std::is_signed_v<T>) whole = hn::ShiftRight<24>(hn::ShiftLeft<24>(whole));
    const auto shifted = hn::ConvertTo(df, hn::Sub(whole, hn::Set(di, zero_point)));
    return hn::BitCast(d, hn::Mul(shifted, hn::Set(df, scale)));
  }

  static constexpr float kLowest = std::numeric_limits<T>::min();
  static constexpr float kHighest = std::numeric_limits<T>::max();
  // True for normal values only: multiplying by the inverse of such a power of two gives the same
  // bits as dividing by it.
  static bool is_power_of_two(float value) {
    return std::isnormal(value) && (std::bit_cast<uint32_t>(value) & 0x7fffffu) == 0;
  }

  float scale;
  float inverse;
  bool inverse_is_exact;
  int32_t zero_point;
};

}  // namespace millrace::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MILLRACE_TENSOR_CODECS_INL_H_
