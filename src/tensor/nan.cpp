#include "tensor/nan.h"

#include <cstdint>
#include <cstring>

namespace millrace::tensor {
namespace {

// In IEEE 754 formats, infinity has all bits of the exponent set and a fraction of zero; NaN has
// the same exponent and any other fraction. So, without its sign, NaN is an integer greater than
// the bits of infinity.
template <class Bits, Bits kInfinity>
std::optional<size_t> find_above(std::span<const std::byte> elements) noexcept {
  constexpr Bits kNoSign = static_cast<Bits>(~(Bits{1} << (sizeof(Bits) * 8 - 1)));
  for (size_t at = 0; at + sizeof(Bits) <= elements.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, elements.data() + at, sizeof bits);
    if ((bits & kNoSign) > kInfinity) return at / sizeof(Bits);
  }
  return std::nullopt;
}

}  // namespace

std::optional<size_t> find_nan(DataType type, std::span<const std::byte> elements) noexcept {
  switch (type) {
    case DataType::kFloat32:
      return find_above<uint32_t, 0x7f80'0000>(elements);
    case DataType::kFloat64:
      return find_above<uint64_t, 0x7ff0'0000'0000'0000>(elements);
    case DataType::kFp16:
      return find_above<uint16_t, 0x7c00>(elements);
    case DataType::kBf16:
      return find_above<uint16_t, 0x7f80>(elements);
    default:
      return std::nullopt;
  }
}

}  // namespace millrace::tensor
