// Prints to standard output for all commands. Names and reasons come from models and may contain
// control characters, so every argument is printed in its printable form (base/printable.h), on one
// line. A failed write is noticed when main() flushes standard output.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <type_traits>

#include "base/printable.h"

namespace millrace::cli {

template <class T>
inline constexpr bool kIsJoined = false;
template <class Iterator, class Sentinel>
inline constexpr bool kIsJoined<fmt::join_view<Iterator, Sentinel, char>> = true;

template <class T>
inline constexpr bool kIsText = std::is_convertible_v<const T&, std::string_view> || kIsJoined<T>;
template <class T>
using Escaped = std::conditional_t<kIsText<T>, std::string, const T&>;

// Returns an argument as it is formatted: text and joined ranges escaped, all else unchanged.
template <class T>
Escaped<T> escaped(const T& value) {
  if constexpr (kIsJoined<T>)
    return printable(fmt::format("{}", T(value)));
  else if constexpr (kIsText<T>)
    return printable(value);
  else
    return value;
}

// Prints a text of several lines: line feeds are kept, other control characters are escaped.
void print_escaped_lines(std::string_view text);

// Formats like fmt::print, with each argument escaped.
template <class... Args>
void print_escaped(fmt::format_string<Escaped<Args>...> format, const Args&... args) {
  print_escaped_lines(fmt::format(format, escaped(args)...));
}

}  // namespace millrace::cli
