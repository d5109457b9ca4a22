// Memory layouts of tensors. The numbers are those of the newer VART-ML API; archives store them.
//
// Plain layouts are dense in C order. The NPU's native layout HCWNC{B} (B = 4, 8 or 16 channels per
// block) has the shape [H, ceil(C/B), W, N, B]: element (n, c, h, w) lies at
//   (((h * Cb + c / B) * W + w) * N + n) * B + c % B
// and the channel lanes at and above C in the last block are padding, written as zero. GENERIC
// carries an order: position i of the shape holds dimension order[i] of the CPU view.
#pragma once

#include <cstdint>
#include <string_view>

namespace millrace::tensor {

// X(enumerator, number, text)
#define MILLRACE_LAYOUTS(X)      \
  X(kUnknown, 0, "UNKNOWN")      \
  X(kNc, 1, "NC")                \
  X(kNch, 2, "NCH")              \
  X(kNhc, 3, "NHC")              \
  X(kNhw, 4, "NHW")              \
  X(kNwc, 5, "NWC")              \
  X(kNhwc, 6, "NHWC")            \
  X(kNchw, 7, "NCHW")            \
  X(kNhwc4, 8, "NHWC4")          \
  X(kNhwc8, 9, "NHWC8")          \
  X(kNc4hw4, 10, "NC4HW4")       \
  X(kNc8hw8, 11, "NC8HW8")       \
  X(kHcwnc4, 12, "HCWNC4")       \
  X(kHcwnc8, 13, "HCWNC8")       \
  X(kHcwnc16, 14, "HCWNC16")     \
  X(kNhw16c4wc, 15, "NHW16C4WC") \
  X(kNhw16wc4c, 16, "NHW16WC4C") \
  X(kNh2hwc4c, 17, "NH2HWC4C")   \
  X(kNh2c4hwc, 18, "NH2C4HWC")   \
  X(kGeneric, 19, "GENERIC")

enum class Layout : uint8_t {
#define MILLRACE_X(enumerator, number, text) enumerator = number,
  MILLRACE_LAYOUTS(MILLRACE_X)
#undef MILLRACE_X
};

inline constexpr int kLayoutCount = 20;

std::string_view to_string(Layout layout) noexcept;
// Channels per block of an HCWNC layout (4, 8 or 16); 0 for any other.
uint32_t channel_block(Layout layout) noexcept;

}  // namespace millrace::tensor
