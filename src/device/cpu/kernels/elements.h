// Elements of floating point values in memory, for the loops of our own.
#pragma once

#include <cstdint>

#include "device/cpu/dnnl_adapter.h"
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

// Calls `body` with an element of the C++ type that `type` is in memory.
template <class F>
auto with_element(ElementType type, F&& body) {
  return type == ElementType::bf16 ? body(Bf16{}) : body(float{});
}

}  // namespace millrace::device::cpu::kernels
