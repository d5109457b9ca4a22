// Memory layouts of tensors. The numbers are those of the newer VART-ML API; archives store them.
//
// Plain layouts are dense in C order. The NPU's native layout HCWNC{B} (B = 4, 8 or 16 channels per
// block) has the shape [H, ceil(C/B), W, N, B]: element (n, c, h, w) lies at
//   (((h * Cb + c / B) * W + w) * N + n) * B + c % B
// and the channel lanes at and above C in the last block are padding, written as zero, or as the
// zero point where the type is quantised. GENERIC carries an order: position i of the shape holds
// dimension order[i] of the CPU view. The grouped layouts (NHWC4 to NC8HW8, NHW16C4WC to NH2C4HWC)
// have numbers and names only: no tensor of this library has one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"

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
// The layout of that text, upper case; kInvalidArgument, listing the layouts, when there is none.
Result<Layout> parse_layout(std::string_view text);
// Channels per block of an HCWNC layout (4, 8 or 16); 0 for any other.
uint32_t channel_block(Layout layout) noexcept;
// The order, as GENERIC would carry it, of a plain layout relative to a CPU view of the same rank,
// whose dimensions count as N, C, H, W; at rank 3 the last one may be called H or W. Empty for the
// other layouts.
std::span<const uint32_t> plain_order(Layout layout) noexcept;

}  // namespace millrace::tensor
