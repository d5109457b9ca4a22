// Text from outside, such as names in a model and what a child process prints, in a form in which
// it can neither control a terminal nor be read in another order than it is written. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace millrace {

// Whether the text is UTF-8 without control characters (C0, DEL, C1), line and paragraph
// separators, and the marks that change the direction of text.
bool is_printable(std::string_view text) noexcept;

// The text with those characters as \x1b or \u202e, and with bytes that are not UTF-8 as \xff.
// Printable text stays as it is, so that escaping twice is the same as escaping once.
std::string printable(std::string_view text);

// The same, but line feeds are kept.
std::string printable_lines(std::string_view text);

}  // namespace millrace
