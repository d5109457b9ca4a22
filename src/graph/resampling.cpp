#include "graph/resampling.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace millrace::graph {
namespace {

// Whether the fraction equals `value`, or does after rounding to FP32.
bool rounds_to(Fraction fraction, double value) noexcept {
  const double exact = fraction.value();
  return exact == value || static_cast<double>(static_cast<float>(exact)) == value;
}

// Searches the convergents of the continued fraction of `value` for a fraction with a small
// denominator that rounds to it.
std::optional<Fraction> small_fraction(double value) noexcept {
  constexpr double kLargest = 4096;
  double before[2] = {0, 1}, now[2] = {1, 0};  // numerator and denominator of two convergents
  for (double rest = value; rest < kLargest * kLargest;) {
    const double whole = std::floor(rest);
    for (int i = 0; i < 2; ++i) before[i] = std::exchange(now[i], whole * now[i] + before[i]);
    if (now[1] > kLargest || now[0] > kLargest * kLargest) return std::nullopt;
    const Fraction fraction{static_cast<int64_t>(now[0]), static_cast<int64_t>(now[1])};
    if (fraction.numerator > 0 && rounds_to(fraction, value)) return fraction;
    if (rest == whole) return std::nullopt;
    rest = 1 / (rest - whole);
  }
  return std::nullopt;
}

// Converts exactly: a floating-point value is an integer times a power of two. Values too small or
// too large for the sizes of tensors are rounded or saturated.
Fraction binary_fraction(double value) noexcept {
  constexpr int kDigits = 53, kMostBits = 62;
  int exponent = 0;
  const double mantissa = std::ldexp(std::frexp(value, &exponent), kDigits);
  exponent -= kDigits;
  const int cut = std::max(0, -exponent - kMostBits);
  const auto digits = static_cast<int64_t>(std::ldexp(mantissa, -cut));
  if (exponent < 0) return {std::max<int64_t>(digits, 1), int64_t{1} << (-exponent - cut)};
  return {digits << std::min(exponent, kMostBits - kDigits), 1};
}

}  // namespace

Fraction fraction_of(double value) noexcept {
  const std::optional<Fraction> small = small_fraction(value);
  return small ? *small : binary_fraction(value);
}

Fraction fraction_of(double value, int64_t from, int64_t to) noexcept {
  const Fraction ratio{to, from};
  return from > 0 && to > 0 && rounds_to(ratio, value) ? ratio : fraction_of(value);
}

int64_t scaled_size(int64_t size, Fraction scale) noexcept {
  return static_cast<int64_t>(static_cast<__int128>(size) * scale.numerator / scale.denominator);
}

Position position_of(__int128 numerator, __int128 denominator) noexcept {
  __int128 below = numerator / denominator;
  if (numerator % denominator < 0) --below;
  const __int128 rest = numerator - below * denominator;
  return {static_cast<int64_t>(below),
          static_cast<double>(rest) / static_cast<double>(denominator)};
}

// (index + 1/2) / scale - 1/2
Position half_pixel_position(Fraction scale, int64_t index) noexcept {
  const __int128 p = scale.numerator, q = scale.denominator;
  return position_of((2 * static_cast<__int128>(index) + 1) * q - p, 2 * p);
}

Position asymmetric_position(Fraction scale, int64_t index) noexcept {
  return position_of(static_cast<__int128>(index) * scale.denominator, scale.numerator);
}

// index * (from - 1) / (from * scale - 1)
Position aligned_position(Fraction scale, int64_t from, int64_t index) noexcept {
  const __int128 q = scale.denominator;
  const __int128 length = static_cast<__int128>(from) * scale.numerator - q;  // times q
  if (length <= 0) return {};
  return position_of(static_cast<__int128>(index) * (from - 1) * q, length);
}

int64_t nearest_index(NearestMode mode, Position position) noexcept {
  switch (mode) {
    case NearestMode::kFloor:
      return position.below;
    case NearestMode::kCeil:
      return position.below + (position.rest > 0 ? 1 : 0);
    case NearestMode::kRoundPreferFloor:
      return position.below + (position.rest > 0.5 ? 1 : 0);
    case NearestMode::kRoundPreferCeil:
      return position.below + (position.rest >= 0.5 ? 1 : 0);
  }
  return position.below;
}

}  // namespace millrace::graph
