// SmallFloat: the 8-bit floating-point types (FP8); converts them from and to float.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace millrace::ranks {

// An 8-bit type with a sign, kExponent bits of exponent and kFraction bits of fraction, encoded as
// in IEEE 754: the largest exponent encodes infinity and NaN. (So E4M3 differs from the OCP FP8
// format E4M3, which has no infinity.)
template <int kExponent, int kFraction>
struct SmallFloat {
  static_assert(kExponent + kFraction == 7);
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr int kSmallest = 1 - kBias - kFraction;  // log2 of the smallest positive value
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

  // Rounds to nearest, ties to even. Overflow gives infinity; every NaN becomes the quiet NaN.
  static uint8_t narrow(float value) noexcept {
    const uint8_t sign = std::signbit(value) ? 0x80 : 0;
    if (std::isnan(value)) return sign | kInfinity | 1 << (kFraction - 1);
    if (std::isinf(value)) return sign | kInfinity;
    const float magnitude = std::fabs(value);
    if (magnitude == 0) return sign;
    // Expresses the magnitude in units of the last place (ulp), which is exact in a float.
    const int unit = std::max(std::ilogb(magnitude) - kFraction, kSmallest);
    const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
    // If rounding carries out of the fraction, the addition correctly increments the exponent.
    const uint32_t bits = units + (static_cast<uint32_t>(unit - kSmallest) << kFraction);
    return sign | static_cast<uint8_t>(std::min<uint32_t>(bits, kInfinity));
  }
};

}  // namespace millrace::ranks
