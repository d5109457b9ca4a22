// Compares names in upper or lower case.
#pragma once

#include <algorithm>
#include <cctype>
#include <string_view>

namespace millrace {

// True if both texts are equal but for the case of ASCII letters.
inline bool same_text(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace millrace
