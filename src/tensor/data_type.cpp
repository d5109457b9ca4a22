#include "tensor/data_type.h"

#include <array>

#include "tensor/names.h"

namespace millrace {
namespace {

constexpr std::array<std::string_view, tensor::kDataTypeCount> kTexts = {
#define MILLRACE_X(enumerator, number, text, bytes) text,
    MILLRACE_DATA_TYPES(MILLRACE_X)
#undef MILLRACE_X
};

constexpr std::array<size_t, tensor::kDataTypeCount> kSizes = {
#define MILLRACE_X(enumerator, number, text, bytes) bytes,
    MILLRACE_DATA_TYPES(MILLRACE_X)
#undef MILLRACE_X
};

// 0, the index of UNKNOWN, for values outside the list.
size_t index_of(DataType type) noexcept {
  const auto index = static_cast<size_t>(type);
  return index < kTexts.size() ? index : 0;
}

}  // namespace

size_t size_of(DataType type) noexcept {
  return kSizes[index_of(type)];
}

std::string_view to_string(DataType type) noexcept {
  return kTexts[index_of(type)];
}

namespace tensor {

bool is_integer(DataType type) noexcept {
  return size_of(type) != 0 && !is_floating(type) && type != DataType::kBoolean;
}

Result<DataType> parse_data_type(std::string_view text) {
  MILLRACE_ASSIGN_OR_RETURN(const size_t index, find_name(text, kTexts, "data type"));
  return static_cast<DataType>(index);
}

}  // namespace tensor
}  // namespace millrace
