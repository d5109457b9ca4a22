#include "device/cpu/builder/byte_conversion.h"

#include <cmath>

namespace millrace::device::cpu {
namespace {

using tensor::DataType;
using tensor::ElementRule;

// True if the vector kernels support the scale. Models may compute scales that they do not.
bool is_proper(const ElementRule& rule) {
  return std::isfinite(rule.scale) && rule.scale > 0;
}

}  // namespace

ByteConversion::ByteConversion(DataType bytes)
    : is_signed_(bytes == DataType::kInt8),
      quantise_(tensor::contiguous_kernel(DataType::kFloat32, bytes)),
      dequantise_(tensor::contiguous_kernel(bytes, DataType::kFloat32)) {}

void ByteConversion::quantise(const float* from, std::byte* to, size_t count,
                              const ElementRule& rule) const {
  if (quantise_ != nullptr && is_proper(rule)) return quantise_(from, to, count, rule);
  for (size_t i = 0; i < count; ++i)
    to[i] = is_signed_ ? std::byte(static_cast<uint8_t>(tensor::quantise<int8_t>(from[i], rule)))
                       : std::byte(tensor::quantise<uint8_t>(from[i], rule));
}

void ByteConversion::dequantise(const std::byte* from, float* to, size_t count,
                                const ElementRule& rule) const {
  if (dequantise_ != nullptr && is_proper(rule)) return dequantise_(from, to, count, rule);
  for (size_t i = 0; i < count; ++i)
    to[i] = static_cast<float>(number(from[i]) - rule.zero_point) * rule.scale;
}

int32_t ByteConversion::number(std::byte byte) const noexcept {
  const auto bits = std::to_integer<uint8_t>(byte);
  return is_signed_ ? static_cast<int8_t>(bits) : bits;
}

std::optional<ByteConversion> conversion_of(DataType type) {
  if (type != DataType::kInt8 && type != DataType::kUint8) return std::nullopt;
  return ByteConversion(type);
}

}  // namespace millrace::device::cpu
