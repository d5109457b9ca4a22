#include "nrt/requests/nan_check.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace millrace::nrt {
namespace {

// By the bits: all ones in the exponent, and a fraction. `kInfinity` has no fraction.
template <class Bits, Bits kInfinity>
std::optional<size_t> find_above(std::span<const std::byte> bytes) {
  constexpr Bits kNoSign = static_cast<Bits>(~(Bits{1} << (sizeof(Bits) * 8 - 1)));
  for (size_t at = 0; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + at, sizeof bits);
    if ((bits & kNoSign) > kInfinity) return at / sizeof(Bits);
  }
  return std::nullopt;
}

// The first element that is one.
std::optional<size_t> find_nan(nrt_dtype_t type, std::span<const std::byte> bytes) {
  switch (type) {
    case NRT_DTYPE_FLOAT32:
      return find_above<uint32_t, 0x7f80'0000>(bytes);
    case NRT_DTYPE_FLOAT16:
      return find_above<uint16_t, 0x7c00>(bytes);
    case NRT_DTYPE_BFLOAT16:
      return find_above<uint16_t, 0x7f80>(bytes);
    default:
      return std::nullopt;
  }
}

}  // namespace

Status check_for_nan(const Binding& binding) {
  const std::vector<ModelTensor>& outputs = binding.model->outputs();
  for (size_t i = 0; i < binding.outputs.size(); ++i) {
    const ModelTensor& output = outputs[i % outputs.size()];
    const std::span bytes(static_cast<const std::byte*>(binding.outputs[i].data),
                          output.frame_bytes);
    if (const std::optional<size_t> element = find_nan(output.type, bytes))
      return {StatusCode::kCorruptData,
              fmt::format("element {} of output \"{}\", frame {}, is a NaN", *element, output.name,
                          i / outputs.size())};
  }
  return {};
}

}  // namespace millrace::nrt
