// Looks up the names of data types and layouts, and lists them in the error message. Thread-safe.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "base/status.h"

namespace millrace::tensor {

// Returns the index of `text` in `names`. The first name stands for "unknown" and is never found.
// kInvalidArgument says that `text` is no `what` and lists the other names.
inline Result<size_t> find_name(std::string_view text, std::span<const std::string_view> names,
                                std::string_view what) {
  const auto known = names.subspan(1);
  const auto found = std::find(known.begin(), known.end(), text);
  if (found != known.end()) return static_cast<size_t>(found - known.begin()) + 1;
  return invalid_argument(
      fmt::format("\"{}\" is no {}; known are {}", text, what, fmt::join(known, ", ")));
}

}  // namespace millrace::tensor
