// Elementwise functions of contiguous FP32 or BF16 (uint16_t) elements that keep NaN, for which
// oneDNN's return a number. `to` may be an operand. The instruction set is chosen when they are
// called.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cpu/kernels/bounds.h"

namespace millrace::device::cpu::kernels {

// Computes the element, or the bound that it exceeds; the upper bound where the bounds cross. The
// bounds are not NaN.
void keep_between(const float* from, float* to, size_t count, const Bounds& bounds) noexcept;
void keep_between(const uint16_t* from, uint16_t* to, size_t count, const Bounds& bounds) noexcept;

void exponentials(const float* from, float* to, size_t count) noexcept;
void exponentials(const uint16_t* from, uint16_t* to, size_t count) noexcept;

// Computes log(1 + exp(x)).
void softplus(const float* from, float* to, size_t count) noexcept;
void softplus(const uint16_t* from, uint16_t* to, size_t count) noexcept;

// Computes the larger or smaller of two elements; NaN where one of them is NaN.
void larger_of(const float* a, const float* b, float* to, size_t count) noexcept;
void larger_of(const uint16_t* a, const uint16_t* b, uint16_t* to, size_t count) noexcept;
void smaller_of(const float* a, const float* b, float* to, size_t count) noexcept;
void smaller_of(const uint16_t* a, const uint16_t* b, uint16_t* to, size_t count) noexcept;

}  // namespace millrace::device::cpu::kernels
