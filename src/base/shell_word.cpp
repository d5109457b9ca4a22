#include "base/shell_word.h"

#include <algorithm>

namespace millrace {
namespace {

bool is_plain(unsigned char c) {
  constexpr std::string_view kPlain = "_-./,:=+@%";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kPlain.find(static_cast<char>(c)) != std::string_view::npos;
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'')
      word += R"('\'')";
    else
      word += c;
  }
  return word + "'";
}

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, is_plain);
  return plain ? std::string(text) : shell_quoted(text);
}

}  // namespace millrace
