#include "vision/postprocess/values.h"

#include <cstdint>
#include <cstring>

#include "tensor/half.h"

namespace millrace::vision {
namespace {

template <class Element, class Widen>
void read_each(const std::byte* bytes, std::span<float> values, Widen widen) {
  for (float& value : values) {
    Element element;
    std::memcpy(&element, bytes, sizeof element);
    bytes += sizeof element;
    value = widen(element);
  }
}

}  // namespace

void read_values(const std::byte* bytes, tensor::DataType type, float scale,
                 std::span<float> values) noexcept {
  const auto scaled = [scale](auto element) { return static_cast<float>(element) * scale; };
  switch (type) {
    case tensor::DataType::kInt8:
      return read_each<int8_t>(bytes, values, scaled);
    case tensor::DataType::kUint8:
      return read_each<uint8_t>(bytes, values, scaled);
    case tensor::DataType::kBf16:
      return read_each<uint16_t>(bytes, values, tensor::bf16_to_float);
    case tensor::DataType::kFp16:
      return read_each<uint16_t>(bytes, values, tensor::fp16_to_float);
    default:
      if (!values.empty()) std::memcpy(values.data(), bytes, values.size_bytes());
  }
}

}  // namespace millrace::vision
