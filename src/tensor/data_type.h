// Element types of tensors: the list of the native API, and what else the library asks of a type.
#pragma once

#include <string_view>

#include "base/status.h"
#include "millrace/tensor.hpp"

namespace millrace::tensor {

using millrace::DataType;
using millrace::size_of;
using millrace::to_string;

inline constexpr int kDataTypeCount = 14;

// The floating point types of which FLOAT32 holds every value: BF16, FP16 and itself. Devices
// compute with all of them in one type of their own.
constexpr bool fits_float32(DataType type) noexcept {
  return type == DataType::kBf16 || type == DataType::kFp16 || type == DataType::kFloat32;
}
constexpr bool is_floating(DataType type) noexcept {  // those, and FLOAT64
  return fits_float32(type) || type == DataType::kFloat64;
}
bool is_integer(DataType type) noexcept;  // the signed and unsigned integers; not BOOLEAN
// The type of that text, upper case; kInvalidArgument, listing the types, when there is none.
Result<DataType> parse_data_type(std::string_view text);

}  // namespace millrace::tensor
