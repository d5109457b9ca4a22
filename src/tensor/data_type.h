// Element types of tensors: the list of the native API, and what else the library asks of a type.
#pragma once

#include <string_view>

#include "base/status.h"
#include "millrace/tensor.hpp"

namespace millrace::tensor {

using millrace::DataType;
using millrace::size_of;
using millrace::to_string;

inline constexpr int kDataTypeCount = 13;

constexpr bool is_floating(DataType type) noexcept {  // BF16, FP16, FLOAT32
  return type == DataType::kBf16 || type == DataType::kFp16 || type == DataType::kFloat32;
}
bool is_integer(DataType type) noexcept;  // the signed and unsigned integers; not BOOLEAN
// The type of that text, upper case; kInvalidArgument, listing the types, when there is none.
Result<DataType> parse_data_type(std::string_view text);

}  // namespace millrace::tensor
