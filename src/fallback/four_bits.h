// The 4-bit element types INT4 and UINT4. Graphs hold them in bytes, as INT8 and UINT8.
#pragma once

#include <cstdint>

namespace millrace::fallback {

// The numbers of the types in ONNX (TensorProto.DataType).
inline constexpr int64_t kUint4 = 21, kInt4 = 22;

constexpr bool has_four_bits(int64_t number) noexcept {
  return number == kUint4 || number == kInt4;
}

}  // namespace millrace::fallback
