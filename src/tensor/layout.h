// Memory layouts of tensors: the list of the native API (millrace/tensor.hpp), their parser and
// their properties. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "millrace/tensor.hpp"

namespace millrace::tensor {

using millrace::Layout;
using millrace::to_string;

inline constexpr int kLayoutCount = 20;  // UNKNOWN included

// Returns the layout with that name, which is in upper case ("NHWC"). kInvalidArgument, listing all
// names, if there is none.
Result<Layout> parse_layout(std::string_view text);
// The number of channels per block of the blocked layouts HCWNC4, HCWNC8 and HCWNC16; 0 for any
// other layout.
uint32_t channel_block(Layout layout) noexcept;
// The dimension order of a plain layout, which is neither blocked nor grouped, as a GENERIC view
// would state it: position i of the view holds dimension order[i] of a CPU view of the same rank.
// The dimensions of the CPU view count as N, C, H, W; at rank 3 the last one may be called H or W.
// Empty for all other layouts.
std::span<const uint32_t> plain_order(Layout layout) noexcept;

}  // namespace millrace::tensor
