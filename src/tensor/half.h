// Scalar conversions between float and the two 16-bit floating types, by bit pattern. The vector
// forms live in the conversion kernels and give the same bits.
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

// The number of BF16 that is nearest.
constexpr float nearest_bf16(float value) noexcept {
  return bf16_to_float(float_to_bf16(value));
}

// Drops the low bits: no finite value becomes infinity. NaN as above.
constexpr uint16_t float_to_bf16_toward_zero(float value) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t quiet = (bits & 0x7fffffffu) > 0x7f800000u ? 0x0040u : 0u;
  return static_cast<uint16_t>((bits >> 16) | quiet);
}

// Round to nearest, ties to even; NaN stays NaN (quiet, sign and upper payload kept); overflow
// gives infinity; subnormals are kept.
uint16_t float_to_fp16(float value) noexcept;
// The same toward zero: a finite value too large gives the largest finite one.
uint16_t float_to_fp16_toward_zero(float value) noexcept;
// Exact; a signalling NaN becomes quiet.
float fp16_to_float(uint16_t bits) noexcept;

}  // namespace millrace::tensor
