// Element types of tensors: the list of the native API (millrace/tensor.hpp), and the predicates
// and the parser that the layers below it need. Thread-safe.
#pragma once

#include <string_view>

#include "base/status.h"
#include "millrace/tensor.hpp"

namespace millrace::tensor {

using millrace::DataType;
using millrace::size_of;
using millrace::to_string;

inline constexpr int kDataTypeCount = 14;  // UNKNOWN included

// Whether FLOAT32 holds every value of the type: true for BF16, FP16 and FLOAT32. A device computes
// with elements of these types in the precision of the model, whichever of them the model declares.
constexpr bool fits_float32(DataType type) noexcept {
  return type == DataType::kBf16 || type == DataType::kFp16 || type == DataType::kFloat32;
}
constexpr bool is_floating(DataType type) noexcept {
  return fits_float32(type) || type == DataType::kFloat64;
}
// Whether the type is a signed or unsigned integer. BOOLEAN is not.
bool is_integer(DataType type) noexcept;
// Returns the type with that name, which is in upper case ("FLOAT32"). kInvalidArgument, listing
// all names, if there is none.
Result<DataType> parse_data_type(std::string_view text);

}  // namespace millrace::tensor
