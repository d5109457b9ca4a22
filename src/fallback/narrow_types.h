// The element types of the standard that a graph does not have: integers of 2 and 4 bits, and
// floating-point types of 4 and 8 bits. A graph holds such integers in bytes (INT8 or UINT8) and
// such floating-point values as FLOAT32, with the same values.
//
// Pure functions: thread-safe.
#pragma once

#include <cstdint>

#include "tensor/data_type.h"

namespace millrace::fallback {

// The codes of a floating-point type that do not stand for finite values.
enum class Specials : uint8_t {
  kNone,
  kNaN,              // the greatest code of each sign is NaN (types that end in "FN")
  kNaNAndInfinity,   // as in IEEE 754
  kNaNForMinusZero,  // the only NaN has the code of -0 (types that end in "FNUZ")
};

// A narrow type. Integers have no exponent and no mantissa.
struct NarrowType {
  int64_t number;  // in ONNX (TensorProto.DataType)
  const char* name;
  int bits;
  tensor::DataType held;  // in a graph
  int exponent_bits = 0, mantissa_bits = 0, bias = 0;
  Specials specials = Specials::kNone;
  float greatest = 0;  // the greatest finite value

  constexpr bool is_floating() const noexcept { return exponent_bits != 0; }
  // The range of an integer type.
  constexpr int lowest_integer() const noexcept {
    return held == tensor::DataType::kInt8 ? -(1 << (bits - 1)) : 0;
  }
  constexpr int greatest_integer() const noexcept { return lowest_integer() + (1 << bits) - 1; }
};

// The number of the type of powers of two, without a sign and a zero.
inline constexpr int64_t kFloat8E8M0 = 24;

// Returns null for the number of any other type.
const NarrowType* narrow_type(int64_t number) noexcept;

// Returns the value of a code, of which the lower `type.bits` bits count: an integer, or a
// floating-point value.
float value_of_code(const NarrowType& type, uint8_t code) noexcept;
// Returns the code of a value. Requirement: the type has the value.
uint8_t code_of_value(const NarrowType& type, float value) noexcept;

// Returns the nearest value of a floating-point type, ties to even. A value beyond the greatest
// becomes the greatest if `saturate`, and otherwise infinity, or NaN if the type has no infinity;
// types without NaN always saturate. NaN stays NaN, or becomes the greatest value of a type without
// NaN, as the standard says of FLOAT4E2M1. Requirement: the type is not FLOAT8E8M0.
float nearest(const NarrowType& type, float value, bool saturate) noexcept;

}  // namespace millrace::fallback
