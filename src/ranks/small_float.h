// The 8-bit floating types: conversions from and to float, by bit pattern.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace millrace::ranks {

// An 8-bit type with a sign, kExponent bits of exponent and kFraction bits of fraction, arranged as
// IEEE 754 arranges its types: the largest exponent holds infinity and NaN.
template <int kExponent, int kFraction>
struct SmallFloat {
  static_assert(kExponent + kFraction == 7);
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr int kSmallest = 1 - kBias - kFraction;  // exponent of the least positive value
  static constexpr uint8_t kInfinity = ((1 << kExponent) - 1) << kFraction;

  static float widen(uint8_t bits) noexcept {
    const int exponent = (bits >> kFraction) & ((1 << kExponent) - 1);
    const int fraction = bits & ((1 << kFraction) - 1);
    float magnitude = 0;
    if (exponent == (1 << kExponent) - 1)
      magnitude = fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                                : std::numeric_limits<float>::infinity();
    else if (exponent == 0)
      magnitude = std::ldexp(static_cast<float>(fraction), kSmallest);
    else
      magnitude =
          std::ldexp(static_cast<float>(fraction + (1 << kFraction)), exponent - kBias - kFraction);
    return (bits & 0x80) != 0 ? -magnitude : magnitude;
  }

  // Rounds to nearest, ties to even; overflow gives infinity; NaN becomes the quiet one.
  static uint8_t narrow(float value) noexcept {
    const uint8_t sign = std::signbit(value) ? 0x80 : 0;
    if (std::isnan(value)) return sign | kInfinity | 1 << (kFraction - 1);
    if (std::isinf(value)) return sign | kInfinity;
    const float magnitude = std::fabs(value);
    if (magnitude == 0) return sign;
    // In units of the least difference of values near this one; those are exact in a float.
    const int unit = std::max(std::ilogb(magnitude) - kFraction, kSmallest);
    const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
    // A carry out of the fraction adds one to the exponent, as it should.
    const uint32_t bits = units + (static_cast<uint32_t>(unit - kSmallest) << kFraction);
    return sign | static_cast<uint8_t>(std::min<uint32_t>(bits, kInfinity));
  }
};

}  // namespace millrace::ranks
