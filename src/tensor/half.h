// Scalar conversions between FLOAT32 and the 16-bit floating-point types BF16 and FP16 (IEEE 754
// binary16), by bit patterns and therefore independent of the rounding mode of the thread. The
// conversion kernels have vector forms, which give the same bits. Thread-safe.
#pragma once

#include <bit>
#include <cstdint>

namespace millrace::tensor {

// Round to nearest, ties to even; NaN stays NaN (quiet, sign and upper payload kept); overflow
// gives infinity; subnormals are kept.
constexpr uint16_t float_to_bf16(float value) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x0040u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

constexpr float bf16_to_float(uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// The nearest value of BF16 (ties to even).
constexpr float nearest_bf16(float value) noexcept {
  return bf16_to_float(float_to_bf16(value));
}

// Rounds toward zero by dropping the low bits, so no finite value becomes infinity. NaN stays NaN,
// as in float_to_bf16().
constexpr uint16_t float_to_bf16_toward_zero(float value) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t quiet = (bits & 0x7fffffffu) > 0x7f800000u ? 0x0040u : 0u;
  return static_cast<uint16_t>((bits >> 16) | quiet);
}

// Round to nearest, ties to even; NaN stays NaN (quiet, sign and upper payload kept); overflow
// gives infinity; subnormals are kept.
uint16_t float_to_fp16(float value) noexcept;
// Rounds toward zero: a finite value beyond the range gives the largest finite value of FP16.
// Otherwise like float_to_fp16().
uint16_t float_to_fp16_toward_zero(float value) noexcept;
// Converts exactly. A signalling NaN becomes quiet.
float fp16_to_float(uint16_t bits) noexcept;

}  // namespace millrace::tensor
