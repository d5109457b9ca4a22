// Commands print to standard output with these functions. Names and reasons come from models, so
// every argument is printed in its printable form (base/printable.h), on one line.
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

// Returns an argument in the form in which it is formatted: text is escaped, numbers are unchanged.
template <class T>
inline constexpr bool kIsText = std::is_convertible_v<const T&, std::string_view> || kIsJoined<T>;
template <class T>
using Escaped = std::conditional_t<kIsText<T>, std::string, const T&>;

template <class T>
Escaped<T> escaped(const T& value) {
  if constexpr (kIsJoined<T>)
    return printable(fmt::format("{}", T(value)));
  else if constexpr (kIsText<T>)
    return printable(value);
  else
    return value;
}

// Prints a text of several lines, whose line feeds are kept.
void print_escaped_lines(std::string_view text);

template <class... Args>
void print_escaped(fmt::format_string<Escaped<Args>...> format, const Args&... args) {
  print_escaped_lines(fmt::format(format, escaped(args)...));
}

}  // namespace millrace::cli
