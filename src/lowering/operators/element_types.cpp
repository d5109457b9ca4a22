#include "lowering/operators/element_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "fallback/common_shapes.h"

namespace millrace::lowering {
namespace {

using tensor::DataType;

constexpr int64_t kFloat16 = 10;
constexpr int64_t kBfloat16 = 16;

// A row of the table of types. `file_bytes` is 0 for types that are not supported.
struct Row {
  int64_t number;
  std::string_view name;
  size_t file_bytes;
};

constexpr Row kRows[] = {
    {0, "UNDEFINED", 0},
    {1, "FLOAT", 4},
    {2, "UINT8", 1},
    {3, "INT8", 1},
    {4, "UINT16", 2},
    {5, "INT16", 2},
    {6, "INT32", 4},
    {7, "INT64", 8},
    {8, "STRING", 0},
    {9, "BOOL", 1},
    {kFloat16, "FLOAT16", 2},
    {11, "DOUBLE", 8},
    {12, "UINT32", 4},
    {13, "UINT64", 8},
    {14, "COMPLEX64", 0},
    {15, "COMPLEX128", 0},
    {kBfloat16, "BFLOAT16", 2},
    {17, "FLOAT8E4M3FN", 0},
    {18, "FLOAT8E4M3FNUZ", 0},
    {19, "FLOAT8E5M2", 0},
    {20, "FLOAT8E5M2FNUZ", 0},
    {21, "UINT4", 0},
    {22, "INT4", 0},
    {23, "FLOAT4E2M1", 0},
    {24, "FLOAT8E8M0", 0},
    {25, "UINT2", 0},
    {26, "INT2", 0},
};

}  // namespace

Result<ElementType> element_type(int64_t number) {
  const auto* row = std::ranges::find(kRows, number, &Row::number);
  if (row == std::end(kRows) || row->file_bytes == 0)
    return unsupported(
        fmt::format("tensors of type {} are not supported",
                    row != std::end(kRows) ? std::string(row->name) : fmt::format("#{}", number)));
  MILLRACE_ASSIGN_OR_RETURN(const DataType stored, fallback::type_of_number(number));
  return ElementType{row->name, row->file_bytes, stored};
}

Result<DataType> stored_type(int64_t number) {
  MILLRACE_ASSIGN_OR_RETURN(const ElementType element, element_type(number));
  return element.stored;
}

Result<DataType> boundary_type(int64_t number) {
  switch (number) {
    case kFloat16:
      return DataType::kFp16;
    case kBfloat16:
      return DataType::kBf16;
    default:
      return stored_type(number);
  }
}

}  // namespace millrace::lowering
