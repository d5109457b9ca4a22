// Functions of elements that keep NaN where those of oneDNN give a number for it, over plain runs
// of FP32 or BF16 (uint16_t) elements. `to` may be an operand. The instruction set is chosen when
// they are called.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cpu/kernels/bounds.h"

namespace millrace::device::cpu::kernels {

// The element, or the bound beyond which it is; the upper one where they cross. The bounds are
// numbers.
void keep_between(const float* from, float* to, size_t count, const Bounds& bounds) noexcept;
void keep_between(const uint16_t* from, uint16_t* to, size_t count, const Bounds& bounds) noexcept;

void exponentials(const float* from, float* to, size_t count) noexcept;
void exponentials(const uint16_t* from, uint16_t* to, size_t count) noexcept;

// The larger or smaller of two elements; NaN where one of them is NaN.
void larger_of(const float* a, const float* b, float* to, size_t count) noexcept;
void larger_of(const uint16_t* a, const uint16_t* b, uint16_t* to, size_t count) noexcept;
void smaller_of(const float* a, const float* b, float* to, size_t count) noexcept;
void smaller_of(const uint16_t* a, const uint16_t* b, uint16_t* to, size_t count) noexcept;

}  // namespace millrace::device::cpu::kernels
