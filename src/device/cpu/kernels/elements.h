// The C++ types of elements in memory, for the device's own loops.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "device/cpu/dnnl/desc.h"
#include "tensor/half.h"

namespace millrace::device::cpu::kernels {

struct Bf16 {
  uint16_t bits;
};

inline float to_float(float value) {
  return value;
}
inline float to_float(Bf16 value) {
  return tensor::bf16_to_float(value.bits);
}

template <class T>
T from_float(float value);
template <>
inline float from_float<float>(float value) {
  return value;
}
template <>
inline Bf16 from_float<Bf16>(float value) {
  return {tensor::float_to_bf16(value)};
}

// Rounds toward zero and saturates. NaN becomes 0.
template <class To, class Real>
To to_integer(Real value) {
  if (!(value == value)) return 0;
  // 2^digits, the first value that is too large, is a float; the largest integer may be none.
  constexpr Real kEnd =
      Real{2} * static_cast<Real>(uint64_t{1} << (std::numeric_limits<To>::digits - 1));
  constexpr Real kBegin = std::is_signed_v<To> ? -kEnd : Real{0};
  if (value >= kEnd) return std::numeric_limits<To>::max();
  if (value <= kBegin) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

// Calls `body` with an element of the C++ type that `type` is in memory.
template <class F>
auto with_element(ElementType type, F&& body) {
  return type == ElementType::bf16 ? body(Bf16{}) : body(float{});
}

}  // namespace millrace::device::cpu::kernels
