#include "cli/top/characters.h"

namespace millrace::cli {
namespace {

bool begins_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

}  // namespace

std::string_view first_characters(std::string_view text, size_t count) noexcept {
  for (size_t i = 0; i < text.size(); ++i) {
    if (!begins_character(text[i])) continue;
    if (count == 0) return text.substr(0, i);
    --count;
  }
  return text;
}

std::string shortened_to(std::string_view text, size_t count) {
  if (count == 0) return {};
  if (first_characters(text, count).size() == text.size()) return std::string(text);
  return std::string(first_characters(text, count - 1)) + '~';
}

}  // namespace millrace::cli
