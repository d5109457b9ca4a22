#include "xrt/xrt_uuid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <stdexcept>

namespace xrt {

uuid::uuid(const std::string& text) {
  std::string digits = text;
  std::erase(digits, '-');
  if (digits.empty()) return;
  const auto is_digit = [](unsigned char c) { return std::isxdigit(c) != 0; };
  if (digits.size() != 2 * bytes_.size() || !std::ranges::all_of(digits, is_digit))
    throw std::invalid_argument(fmt::format("\"{}\" is not a UUID", text));
  for (size_t i = 0; i < bytes_.size(); ++i)
    std::from_chars(&digits[2 * i], &digits[2 * i] + 2, bytes_[i], 16);
}

std::string uuid::to_string() const {
  std::string text;
  for (size_t i = 0; i < bytes_.size(); ++i) {
    const bool hyphen = i == 4 || i == 6 || i == 8 || i == 10;
    text += fmt::format("{}{:02x}", hyphen ? "-" : "", bytes_[i]);
  }
  return text;
}

}  // namespace xrt
