// Conversion of one element between any two data types: the scalar reference for the rules that
// conversion.h lists, with which the vector kernels agree bit for bit. Rounding to integers and to
// the 16-bit floating-point types does not depend on the rounding mode of the thread. Arithmetic
// with the scale, and conversions of integers or FLOAT64 to FLOAT32, do where they are inexact.
// Thread-safe.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "tensor/data_type.h"
#include "tensor/half.h"

namespace millrace::tensor {

// The parameters of a conversion that apply to every element. The scale is finite and positive.
struct ElementRule {
  float scale = 1.0f;
  int32_t zero_point = 0;
  bool toward_zero = false;
};

template <DataType kType>
struct Storage;
#define MILLRACE_STORAGE(type, cpp) \
  template <>                       \
  struct Storage<DataType::type> {  \
    using T = cpp;                  \
  }
MILLRACE_STORAGE(kBoolean, uint8_t);
MILLRACE_STORAGE(kInt8, int8_t);
MILLRACE_STORAGE(kUint8, uint8_t);
MILLRACE_STORAGE(kInt16, int16_t);
MILLRACE_STORAGE(kUint16, uint16_t);
MILLRACE_STORAGE(kBf16, uint16_t);
MILLRACE_STORAGE(kFp16, uint16_t);
MILLRACE_STORAGE(kInt32, int32_t);
MILLRACE_STORAGE(kUint32, uint32_t);
MILLRACE_STORAGE(kFloat32, float);
MILLRACE_STORAGE(kInt64, int64_t);
MILLRACE_STORAGE(kUint64, uint64_t);
MILLRACE_STORAGE(kFloat64, double);
#undef MILLRACE_STORAGE

template <DataType kType>
using StorageOf = typename Storage<kType>::T;

// An integer type that holds every value of T and its sum with any zero point.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, __int128, int64_t>;

// The C++ type in which elements of a floating-point type are computed.
template <DataType kType>
using RealOf = std::conditional_t<kType == DataType::kFloat64, double, float>;

template <DataType kType>
RealOf<kType> widen(StorageOf<kType> value) noexcept {
  if constexpr (kType == DataType::kBf16) return bf16_to_float(value);
  if constexpr (kType == DataType::kFp16) return fp16_to_float(value);
  if constexpr (kType == DataType::kFloat32 || kType == DataType::kFloat64) return value;
}

template <DataType kType>
StorageOf<kType> narrow(float value, bool toward_zero) noexcept {
  if constexpr (kType == DataType::kBf16)
    return toward_zero ? float_to_bf16_toward_zero(value) : float_to_bf16(value);
  if constexpr (kType == DataType::kFp16)
    return toward_zero ? float_to_fp16_toward_zero(value) : float_to_fp16(value);
  if constexpr (kType == DataType::kFloat32 || kType == DataType::kFloat64) return value;
}

// Rounds FLOAT64 toward zero to FLOAT32, in any rounding mode of the thread. Infinity stays
// infinity and NaN stays NaN.
inline float float_toward_zero(double value) noexcept {
  const auto rounded = static_cast<float>(value);
  if (!(std::fabs(static_cast<double>(rounded)) > std::fabs(value))) return rounded;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(rounded) - 1);
}

template <DataType kType>
StorageOf<kType> narrow(double value, bool toward_zero) noexcept {
  if constexpr (kType == DataType::kFloat64) {
    return value;
  } else if constexpr (kType == DataType::kFloat32) {
    return toward_zero ? float_toward_zero(value) : static_cast<float>(value);
  } else {
    // Round to odd: setting the last bit if bits were cut off keeps the second rounding from
    // turning a value just beside a tie into a tie. The result equals that of rounding once.
    const float cut = float_toward_zero(value);
    const bool exact = !(static_cast<double>(cut) != value) || std::isnan(value);
    return narrow<kType>(exact ? cut : std::bit_cast<float>(std::bit_cast<uint32_t>(cut) | 1),
                         toward_zero);
  }
}

// Rounds to the nearest integer, ties to even. std::nearbyint would follow the rounding mode of the
// thread.
template <class Real>
Real round_to_even(Real value) noexcept {
  const Real whole = std::trunc(value);
  const Real rest = std::fabs(value - whole);  // exact; NaN for infinity, which returns `whole`
  if (!(rest >= Real{0.5})) return whole;
  const bool up = rest > Real{0.5} || std::fmod(whole, Real{2}) != 0;
  return up ? whole + std::copysign(Real{1}, value) : whole;
}

template <class T, class Integer>
T saturate(Integer value) noexcept {
  if (std::cmp_less(value, std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (std::cmp_greater(value, std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

// Quantises: clamp(round(value / scale) + zero_point) to the range of T; NaN gives 0.
template <class T, class Real>
T quantise(Real value, const ElementRule& rule) noexcept {
  if (std::isnan(value)) return 0;
  const Real ratio = value / static_cast<Real>(rule.scale);
  const Real rounded = rule.toward_zero ? std::trunc(ratio) : round_to_even(ratio);
  // A bound beyond the range of every T, whatever zero point is added, that Wide<T> can hold.
  constexpr Real kFar = sizeof(T) == 8 ? 0x1p+66f : 0x1p+34f;
  const auto whole = static_cast<Wide<T>>(std::fmin(std::fmax(rounded, -kFar), kFar));
  const Wide<T> shifted = whole + rule.zero_point;
  constexpr auto kLowest = static_cast<Wide<T>>(std::numeric_limits<T>::min());
  constexpr auto kHighest = static_cast<Wide<T>>(std::numeric_limits<T>::max());
  return static_cast<T>(shifted < kLowest ? kLowest : shifted > kHighest ? kHighest : shifted);
}

template <class Real, class T>
Real dequantise(T value, const ElementRule& rule) noexcept {
  return static_cast<Real>(static_cast<Wide<T>>(value) - rule.zero_point) *
         static_cast<Real>(rule.scale);
}

template <DataType kFrom, DataType kTo>
StorageOf<kTo> convert(StorageOf<kFrom> value, const ElementRule& rule) noexcept {
  using To = StorageOf<kTo>;
  if constexpr (kFrom == kTo) {
    return value;
  } else if constexpr (kTo == DataType::kBoolean) {
    if constexpr (is_floating(kFrom)) return widen<kFrom>(value) != 0;
    return value != 0;
  } else if constexpr (kFrom == DataType::kBoolean) {
    if constexpr (is_floating(kTo)) return narrow<kTo>(value != 0 ? 1.0f : 0.0f, false);
    return static_cast<To>(value != 0);
  } else if constexpr (is_floating(kFrom) && is_floating(kTo)) {
    return narrow<kTo>(widen<kFrom>(value), rule.toward_zero);
  } else if constexpr (is_floating(kFrom)) {
    return quantise<To>(widen<kFrom>(value), rule);
  } else if constexpr (is_floating(kTo)) {
    return narrow<kTo>(dequantise<RealOf<kTo>>(value, rule), rule.toward_zero);
  } else {
    return saturate<To>(value);
  }
}

}  // namespace millrace::tensor
