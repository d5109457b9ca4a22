// Makes text from outside, such as names in a model and the output of a child process, safe to
// print: it can neither control a terminal nor appear in another order. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace millrace {

// Returns whether the text is UTF-8 and has no control characters (C0, DEL, C1), line and paragraph
// separators, or marks that change the direction of text.
bool is_printable(std::string_view text) noexcept;

// Returns the text with those characters as \x1b or \u202e, and bytes that are not UTF-8 as \xff.
// Printable text stays as it is, so that escaping twice gives the same as escaping once.
std::string printable(std::string_view text);

// Does the same, but keeps line feeds.
std::string printable_lines(std::string_view text);

}  // namespace millrace
