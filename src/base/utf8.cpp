#include "base/utf8.h"

#include <cstdint>

namespace millrace {
namespace {

// The well-formed sequences of UTF-8 (Unicode, table 3-7): the range of the first byte, the range
// of the second byte, and the length. The second byte has a narrower range than those after it
// where that excludes overlong forms, surrogates and code points above U+10FFFF.
struct Sequence {
  uint8_t first_low, first_high, second_low, second_high, length;
};
constexpr Sequence kSequences[] = {
    {0x01, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

bool within(char c, uint8_t low, uint8_t high) {
  const auto byte = static_cast<uint8_t>(c);
  return byte >= low && byte <= high;
}

}  // namespace

size_t utf8_sequence_length(std::string_view text) noexcept {
  for (const Sequence& sequence : kSequences) {
    if (!within(text[0], sequence.first_low, sequence.first_high)) continue;
    if (text.size() < sequence.length) return 0;
    if (sequence.length > 1 && !within(text[1], sequence.second_low, sequence.second_high))
      return 0;
    for (size_t i = 2; i < sequence.length; ++i) {
      if (!within(text[i], 0x80, 0xbf)) return 0;
    }
    return sequence.length;
  }
  return 0;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const size_t length = utf8_sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace millrace
