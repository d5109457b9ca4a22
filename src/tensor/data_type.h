// Element types of tensors. The numbers are those of the VART-ML API (its order is BF16, FP16
// before INT32), so that faces translate by a cast; archives store the same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace millrace::tensor {

// X(enumerator, number, text, bytes per element). A BOOLEAN takes one byte, 0 or 1.
#define MILLRACE_DATA_TYPES(X)  \
  X(kUnknown, 0, "UNKNOWN", 0)  \
  X(kBoolean, 1, "BOOLEAN", 1)  \
  X(kInt8, 2, "INT8", 1)        \
  X(kUint8, 3, "UINT8", 1)      \
  X(kInt16, 4, "INT16", 2)      \
  X(kUint16, 5, "UINT16", 2)    \
  X(kBf16, 6, "BF16", 2)        \
  X(kFp16, 7, "FP16", 2)        \
  X(kInt32, 8, "INT32", 4)      \
  X(kUint32, 9, "UINT32", 4)    \
  X(kFloat32, 10, "FLOAT32", 4) \
  X(kInt64, 11, "INT64", 8)     \
  X(kUint64, 12, "UINT64", 8)

enum class DataType : uint8_t {
#define MILLRACE_X(enumerator, number, text, bytes) enumerator = number,
  MILLRACE_DATA_TYPES(MILLRACE_X)
#undef MILLRACE_X
};

inline constexpr int kDataTypeCount = 13;

// Bytes per element; 0 for kUnknown and for values outside the list.
size_t size_of(DataType type) noexcept;
// The text of the list; "UNKNOWN" for values outside it.
std::string_view to_string(DataType type) noexcept;
constexpr bool is_floating(DataType type) noexcept {  // BF16, FP16, FLOAT32
  return type == DataType::kBf16 || type == DataType::kFp16 || type == DataType::kFloat32;
}
bool is_integer(DataType type) noexcept;  // the signed and unsigned integers; not BOOLEAN
// The type of that text, upper case; kInvalidArgument, listing the types, when there is none.
Result<DataType> parse_data_type(std::string_view text);

}  // namespace millrace::tensor
