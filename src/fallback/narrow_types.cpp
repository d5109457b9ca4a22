#include "fallback/narrow_types.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace millrace::fallback {
namespace {

using tensor::DataType;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

constexpr NarrowType kTypes[] = {
    {17, "FLOAT8E4M3FN", 8, DataType::kFloat32, 4, 3, 7, Specials::kNaN, 448},
    {18, "FLOAT8E4M3FNUZ", 8, DataType::kFloat32, 4, 3, 8, Specials::kNaNForMinusZero, 240},
    {19, "FLOAT8E5M2", 8, DataType::kFloat32, 5, 2, 15, Specials::kNaNAndInfinity, 57344},
    {20, "FLOAT8E5M2FNUZ", 8, DataType::kFloat32, 5, 2, 16, Specials::kNaNForMinusZero, 57344},
    {21, "UINT4", 4, DataType::kUint8},
    {22, "INT4", 4, DataType::kInt8},
    {23, "FLOAT4E2M1", 4, DataType::kFloat32, 2, 1, 1, Specials::kNone, 6},
    {kFloat8E8M0, "FLOAT8E8M0", 8, DataType::kFloat32, 8, 0, 127, Specials::kNaN, 0x1p127f},
    {25, "UINT2", 2, DataType::kUint8},
    {26, "INT2", 2, DataType::kInt8},
};

float integer_of_code(const NarrowType& type, int code) {
  const bool is_negative = code > type.greatest_integer();
  return static_cast<float>(is_negative ? code - (1 << type.bits) : code);
}

// The magnitude of codes without sign and special meaning.
float finite_value(const NarrowType& type, int exponent, int mantissa) {
  // The least exponent is that of subnormal numbers, which have no implicit leading bit.
  if (exponent > 0) mantissa += 1 << type.mantissa_bits;
  return std::ldexp(static_cast<float>(mantissa),
                    std::max(exponent, 1) - type.bias - type.mantissa_bits);
}

}  // namespace

const NarrowType* narrow_type(int64_t number) noexcept {
  const auto* const type = std::ranges::find(kTypes, number, &NarrowType::number);
  return type == std::end(kTypes) ? nullptr : type;
}

float value_of_code(const NarrowType& type, uint8_t code) noexcept {
  const int bits = code & ((1 << type.bits) - 1);
  if (!type.is_floating()) return integer_of_code(type, bits);
  const int exponent_limit = 1 << type.exponent_bits, mantissa_limit = 1 << type.mantissa_bits;
  // Exponents of FLOAT8E8M0 are those of normal numbers, and it has no sign.
  if (type.number == kFloat8E8M0)
    return bits == exponent_limit - 1 ? kNaN : std::ldexp(1.0f, bits - type.bias);
  const int sign = bits >> (type.bits - 1), mantissa = bits % mantissa_limit,
            exponent = bits / mantissa_limit % exponent_limit;
  const bool is_last = exponent == exponent_limit - 1;
  if (type.specials == Specials::kNaN && is_last && mantissa == mantissa_limit - 1) return kNaN;
  if (type.specials == Specials::kNaNForMinusZero && bits == 1 << (type.bits - 1)) return kNaN;
  float value = finite_value(type, exponent, mantissa);
  if (type.specials == Specials::kNaNAndInfinity && is_last)
    value = mantissa == 0 ? kInfinity : kNaN;
  return sign != 0 ? -value : value;
}

uint8_t code_of_value(const NarrowType& type, float value) noexcept {
  const auto is_code = [&](int code) {
    const float coded = value_of_code(type, static_cast<uint8_t>(code));
    if (std::isnan(value)) return std::isnan(coded);
    return coded == value && std::signbit(coded) == std::signbit(value);
  };
  for (int code = 0; code < 1 << type.bits; ++code)
    if (is_code(code)) return static_cast<uint8_t>(code);
  return 0;
}

float nearest(const NarrowType& type, float value, bool saturate) noexcept {
  if (std::isnan(value)) return type.specials == Specials::kNone ? type.greatest : value;
  const float magnitude = std::fabs(value);
  float rounded = magnitude;
  if (magnitude > 0 && magnitude <= 2 * type.greatest) {
    // The distance of neighbouring values is the same for all subnormal numbers.
    const int exponent = std::max(std::ilogb(magnitude), 1 - type.bias);
    const float step = std::ldexp(1.0f, exponent - type.mantissa_bits);
    rounded = std::nearbyint(magnitude / step) * step;
  }
  if (rounded > type.greatest) {
    const bool keeps = !saturate && type.specials != Specials::kNone;
    rounded = !keeps                                       ? type.greatest
              : type.specials == Specials::kNaNAndInfinity ? kInfinity
                                                           : kNaN;
  }
  if (rounded == 0 && type.specials == Specials::kNaNForMinusZero) return 0;
  return std::copysign(rounded, value);
}

}  // namespace millrace::fallback
