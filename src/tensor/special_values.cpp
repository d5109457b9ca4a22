// In IEEE 754 formats, infinity has all bits of the exponent set and a fraction of zero; NaN has
// the same exponent and any other fraction; a subnormal value has an exponent of zero and any other
// fraction. So, without the sign, elements compare as integers:
//
//   0 < subnormal values < the smallest normal value < ... < infinity < NaN
#include "tensor/special_values.h"

#include <cstdint>
#include <cstring>

namespace millrace::tensor {
namespace {

// A format by its unsigned integer type and the bits of infinity.
template <class BitsType, BitsType kInfinityBits>
struct Format {
  using Bits = BitsType;
  static constexpr Bits kInfinity = kInfinityBits;
  static constexpr Bits kNoSign = static_cast<Bits>(~(Bits{1} << (sizeof(Bits) * 8 - 1)));
  // Its exponent is 1, so it is the lowest bit of the exponent.
  static constexpr Bits kSmallestNormal = static_cast<Bits>(kInfinity & (~kInfinity + 1));
};

// Calls use(format) with the format of a type, and returns its result; `otherwise` for a type that
// has no special values.
template <class Answer, class Use>
Answer with_format(DataType type, Answer otherwise, Use&& use) noexcept {
  switch (type) {
    case DataType::kFloat32:
      return use(Format<uint32_t, 0x7f80'0000>());
    case DataType::kFloat64:
      return use(Format<uint64_t, 0x7ff0'0000'0000'0000>());
    case DataType::kFp16:
      return use(Format<uint16_t, 0x7c00>());
    case DataType::kBf16:
      return use(Format<uint16_t, 0x7f80>());
    default:
      return otherwise;
  }
}

// Returns the bits of an element without its sign.
template <class Format>
typename Format::Bits magnitude(const std::byte* element) noexcept {
  typename Format::Bits bits;
  std::memcpy(&bits, element, sizeof bits);
  return static_cast<typename Format::Bits>(bits & Format::kNoSign);
}

template <class Format>
std::optional<size_t> first_nan(std::span<const std::byte> elements) noexcept {
  constexpr size_t kBytes = sizeof(typename Format::Bits);
  for (size_t at = 0; at + kBytes <= elements.size(); at += kBytes)
    if (magnitude<Format>(elements.data() + at) > Format::kInfinity) return at / kBytes;
  return std::nullopt;
}

void note(SpecialValues::Found& found, size_t index) noexcept {
  if (found.count++ == 0) found.first = index;
}

template <class Format>
SpecialValues special_values(std::span<const std::byte> elements) noexcept {
  constexpr size_t kBytes = sizeof(typename Format::Bits);
  SpecialValues values;
  for (size_t at = 0; at + kBytes <= elements.size(); at += kBytes) {
    const auto bits = magnitude<Format>(elements.data() + at);
    if (bits > Format::kInfinity)
      note(values.nans, at / kBytes);
    else if (bits == Format::kInfinity)
      note(values.infinities, at / kBytes);
    else if (bits != 0 && bits < Format::kSmallestNormal)
      note(values.subnormals, at / kBytes);
  }
  return values;
}

}  // namespace

std::optional<size_t> find_nan(DataType type, std::span<const std::byte> elements) noexcept {
  return with_format(type, std::optional<size_t>(),
                     [&](auto format) { return first_nan<decltype(format)>(elements); });
}

SpecialValues find_special_values(DataType type, std::span<const std::byte> elements) noexcept {
  return with_format(type, SpecialValues(),
                     [&](auto format) { return special_values<decltype(format)>(elements); });
}

}  // namespace millrace::tensor
