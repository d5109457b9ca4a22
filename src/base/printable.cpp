#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"

namespace millrace {
namespace {

struct Range {
  uint32_t first, last;
};
constexpr Range kUnprintable[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},                        // control characters
    {0x2028, 0x2029},                                      // separators of lines and paragraphs
    {0x061c, 0x061c}, {0x200e, 0x200f}, {0x202a, 0x202e},  // marks that set the direction of text
    {0x2066, 0x2069},
};

bool is_printable_character(uint32_t character) noexcept {
  return std::ranges::none_of(kUnprintable, [character](const Range& range) {
    return range.first <= character && character <= range.last;
  });
}

bool is_ascii_text(char c) noexcept {
  return c >= 0x20 && c < 0x7f;
}

// Returns the code point of a sequence. Requirement: the sequence is valid.
uint32_t decode(std::string_view sequence) noexcept {
  const auto first = static_cast<uint8_t>(sequence[0]);
  uint32_t character = sequence.size() == 1 ? first : first & (0x7fU >> sequence.size());
  for (const char c : sequence.substr(1))
    character = character << 6 | (static_cast<uint8_t>(c) & 0x3fU);
  return character;
}

// The first piece of a text: one character, or one byte that does not begin a valid character.
struct Piece {
  std::string_view bytes;
  bool is_printable = false;
};

Piece first_piece(std::string_view text) noexcept {
  const size_t length = utf8_sequence_length(text);
  if (length == 0) return {text.substr(0, 1), false};
  const std::string_view bytes = text.substr(0, length);
  return {bytes, is_printable_character(decode(bytes))};
}

std::string escape(std::string_view piece) {
  if (piece.size() == 1) return fmt::format("\\x{:02x}", static_cast<uint8_t>(piece[0]));
  return fmt::format("\\u{:04x}", decode(piece));
}

std::string escape_all(std::string_view text, bool keep_line_feeds) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto plain =
        static_cast<size_t>(std::ranges::find_if_not(text, is_ascii_text) - text.begin());
    result += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Piece piece = first_piece(text);
    if (piece.is_printable || (keep_line_feeds && piece.bytes == "\n"))
      result += piece.bytes;
    else
      result += escape(piece.bytes);
    text.remove_prefix(piece.bytes.size());
  }
  return result;
}

}  // namespace

bool is_printable(std::string_view text) noexcept {
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    if (!piece.is_printable) return false;
    text.remove_prefix(piece.bytes.size());
  }
  return true;
}

std::string printable(std::string_view text) {
  return escape_all(text, false);
}

std::string printable_lines(std::string_view text) {
  return escape_all(text, true);
}

}  // namespace millrace
