// Memory layouts of tensors: the list of the native API, and what else the library asks of one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "millrace/tensor.hpp"

namespace millrace::tensor {

using millrace::Layout;
using millrace::to_string;

inline constexpr int kLayoutCount = 20;

// The layout of that text, upper case; kInvalidArgument, listing the layouts, when there is none.
Result<Layout> parse_layout(std::string_view text);
// Channels per block of an HCWNC layout (4, 8 or 16); 0 for any other.
uint32_t channel_block(Layout layout) noexcept;
// The order, as GENERIC would carry it, of a plain layout relative to a CPU view of the same rank,
// whose dimensions count as N, C, H, W; at rank 3 the last one may be called H or W. Empty for the
// other layouts.
std::span<const uint32_t> plain_order(Layout layout) noexcept;

}  // namespace millrace::tensor
