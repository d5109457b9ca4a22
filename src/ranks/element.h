// Element and Reduction: the element types of collectives, and the operations that reduce them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tensor/data_type.h"

namespace millrace::ranks {

// X(enumerator, text, bytes per element). The 8-bit floating-point types have the exponent and
// fraction bits of their names, and infinities and NaNs encoded as in IEEE 754.
#define MILLRACE_RANKS_ELEMENTS(X) \
  X(kInt8, "INT8", 1)              \
  X(kUint8, "UINT8", 1)            \
  X(kInt16, "INT16", 2)            \
  X(kUint16, "UINT16", 2)          \
  X(kInt32, "INT32", 4)            \
  X(kUint32, "UINT32", 4)          \
  X(kInt64, "INT64", 8)            \
  X(kUint64, "UINT64", 8)          \
  X(kBf16, "BF16", 2)              \
  X(kFp16, "FP16", 2)              \
  X(kFloat32, "FLOAT32", 4)        \
  X(kFloat64, "FLOAT64", 8)        \
  X(kFp8E3M4, "FP8_E3M4", 1)       \
  X(kFp8E4M3, "FP8_E4M3", 1)       \
  X(kFp8E5M2, "FP8_E5M2", 1)

enum class Element : uint8_t {
#define MILLRACE_X(enumerator, text, bytes) enumerator,
  MILLRACE_RANKS_ELEMENTS(MILLRACE_X)
#undef MILLRACE_X
};

// Return "UNKNOWN" and 0 for a value outside the list.
std::string_view to_string(Element element) noexcept;
size_t size_of(Element element) noexcept;
// kUnsupported for types that cannot be reduced: BOOLEAN and UNKNOWN.
Result<Element> element_of(tensor::DataType type);

enum class Reduction : uint8_t { kSum, kMax, kMin };

std::string_view to_string(Reduction reduction) noexcept;

}  // namespace millrace::ranks
