#include "cli/report/html.h"

#include "base/utf8.h"

#include <fmt/format.h>

#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>

namespace millrace::cli {
namespace {

std::string base64(std::span<const std::byte> bytes) {
  using namespace boost::archive::iterators;
  using Digits = base64_from_binary<transform_width<const char*, 6, 8>>;
  const auto* const first = reinterpret_cast<const char*>(bytes.data());
  std::string text(Digits(first), Digits(first + bytes.size()));
  text.append((3 - bytes.size() % 3) % 3, '=');
  return text;
}

std::string escaped(char c, bool is_text) {
  const auto code = static_cast<unsigned char>(c);
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      if (code < 0x20 || code == 0x7f) return " ";
      return code < 0x80 || is_text ? std::string(1, c) : "?";
  }
}

}  // namespace

std::string html_escaped(std::string_view text) {
  const bool is_text = is_utf8(text);
  std::string result;
  for (const char c : text) result += escaped(c, is_text);
  return result;
}

std::string data_uri(std::string_view type, std::span<const std::byte> bytes) {
  return fmt::format("data:{};base64,{}", type, base64(bytes));
}

}  // namespace millrace::cli
