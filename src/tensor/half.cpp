#include "tensor/half.h"

namespace millrace::tensor {
namespace {

constexpr uint32_t kInfinity = 0x7f800000u;        // binary32
constexpr uint32_t kSmallestNormal = 0x38800000u;  // 2^-14, the smallest normal binary16 value
constexpr uint32_t kOverflow = 0x47800000u;        // 2^16, above every binary16 value
constexpr uint32_t kExponentShift = 112u << 23;    // difference of the exponent biases

enum class Direction { kNearestEven, kTowardZero };

// Requirement for kNearestEven: `count` is at least 1.
constexpr uint32_t shift_right(uint32_t value, uint32_t count, Direction direction) {
  if (direction == Direction::kTowardZero) return value >> count;
  return (value + (1u << (count - 1)) - 1 + ((value >> count) & 1u)) >> count;
}

// Converts the magnitude of a value below 2^-14, which is subnormal in binary16: the result counts
// units of 2^-24.
constexpr uint32_t subnormal(uint32_t magnitude, Direction direction) {
  const uint32_t exponent = magnitude >> 23;
  constexpr uint32_t kTooSmall = 102;  // the biased exponent of 2^-25, half a unit
  if (exponent < kTooSmall) return 0;
  return shift_right((magnitude & 0x7fffffu) | 0x800000u, 126 - exponent, direction);
}

constexpr uint32_t narrow_magnitude(uint32_t magnitude, Direction direction) {
  if (magnitude > kInfinity) return 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  if (magnitude == kInfinity) return 0x7c00u;
  if (magnitude >= kOverflow) return direction == Direction::kNearestEven ? 0x7c00u : 0x7bffu;
  if (magnitude < kSmallestNormal) return subnormal(magnitude, direction);
  // A carry out of the significand moves into the exponent, up to infinity.
  return shift_right(magnitude - kExponentShift, 13, direction);
}

uint16_t narrow(float value, Direction direction) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>(((bits >> 16) & 0x8000u) |
                               narrow_magnitude(bits & 0x7fffffffu, direction));
}

constexpr uint32_t widen_magnitude(uint32_t magnitude) {
  if (magnitude > 0x7c00u) return kInfinity | 0x400000u | ((magnitude & 0x3ffu) << 13);
  if (magnitude == 0x7c00u) return kInfinity;
  if (magnitude >= 0x400u) return (magnitude << 13) + kExponentShift;
  if (magnitude == 0) return 0;
  const auto leading = static_cast<uint32_t>(std::bit_width(magnitude)) - 1;  // bit 0 is 2^-24
  return ((103 + leading) << 23) | ((magnitude << (23 - leading)) & 0x7fffffu);
}

}  // namespace

uint16_t float_to_fp16(float value) noexcept {
  return narrow(value, Direction::kNearestEven);
}

uint16_t float_to_fp16_toward_zero(float value) noexcept {
  return narrow(value, Direction::kTowardZero);
}

float fp16_to_float(uint16_t bits) noexcept {
  return std::bit_cast<float>(((bits & 0x8000u) << 16) | widen_magnitude(bits & 0x7fffu));
}

}  // namespace millrace::tensor
