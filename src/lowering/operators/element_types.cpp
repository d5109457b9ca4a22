#include "lowering/operators/element_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace millrace::lowering {
namespace {

using tensor::DataType;

constexpr int64_t kFloat16 = 10;
constexpr int64_t kBfloat16 = 16;

constexpr ElementType kElementTypes[] = {
    {0, "UNDEFINED", 0, DataType::kUnknown},
    {1, "FLOAT", 4, DataType::kFloat32},
    {2, "UINT8", 1, DataType::kUint8},
    {3, "INT8", 1, DataType::kInt8},
    {4, "UINT16", 2, DataType::kUint16},
    {5, "INT16", 2, DataType::kInt16},
    {6, "INT32", 4, DataType::kInt32},
    {7, "INT64", 8, DataType::kInt64},
    {8, "STRING", 0, DataType::kUnknown},
    {9, "BOOL", 1, DataType::kBoolean},
    {kFloat16, "FLOAT16", 2, DataType::kFloat32},
    {11, "DOUBLE", 8, DataType::kFloat64},
    {12, "UINT32", 4, DataType::kUint32},
    {13, "UINT64", 8, DataType::kUint64},
    {14, "COMPLEX64", 0, DataType::kUnknown},
    {15, "COMPLEX128", 0, DataType::kUnknown},
    {kBfloat16, "BFLOAT16", 2, DataType::kFloat32},
    {17, "FLOAT8E4M3FN", 0, DataType::kUnknown},
    {18, "FLOAT8E4M3FNUZ", 0, DataType::kUnknown},
    {19, "FLOAT8E5M2", 0, DataType::kUnknown},
    {20, "FLOAT8E5M2FNUZ", 0, DataType::kUnknown},
    {21, "UINT4", 0, DataType::kUnknown},
    {22, "INT4", 0, DataType::kUnknown},
};

}  // namespace

Result<ElementType> element_type(int64_t number) {
  const auto* entry = std::ranges::find(kElementTypes, number, &ElementType::number);
  if (entry != std::end(kElementTypes) && entry->file_bytes > 0) return *entry;
  return unsupported(fmt::format(
      "tensors of type {} are not supported",
      entry != std::end(kElementTypes) ? std::string(entry->name) : fmt::format("#{}", number)));
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
