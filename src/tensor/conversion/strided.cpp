#include "tensor/conversion/strided.h"

#include <array>
#include <cstring>
#include <utility>

namespace millrace::tensor {
namespace {

template <DataType kFrom, DataType kTo>
void convert_strided(const void* from, size_t from_stride, void* to, size_t to_stride, size_t count,
                     const ElementRule& rule) noexcept {
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  for (size_t i = 0; i < count; ++i) {
    StorageOf<kFrom> value;
    std::memcpy(&value, source + i * from_stride * sizeof(value), sizeof(value));
    const StorageOf<kTo> converted = convert<kFrom, kTo>(value, rule);
    std::memcpy(target + i * to_stride * sizeof(converted), &converted, sizeof(converted));
  }
}

constexpr size_t kTypes = kDataTypeCount - 1;  // without UNKNOWN

using Table = std::array<StridedKernel, kTypes * kTypes>;

template <size_t... kIndex>
constexpr Table make_table(std::index_sequence<kIndex...>) {
  return {&convert_strided<static_cast<DataType>(kIndex / kTypes + 1),
                           static_cast<DataType>(kIndex % kTypes + 1)>...};
}

constexpr Table kTable = make_table(std::make_index_sequence<kTypes * kTypes>());

}  // namespace

StridedKernel strided_kernel(DataType from, DataType to) noexcept {
  if (size_of(from) == 0 || size_of(to) == 0) return nullptr;
  return kTable[(static_cast<size_t>(from) - 1) * kTypes + static_cast<size_t>(to) - 1];
}

}  // namespace millrace::tensor
