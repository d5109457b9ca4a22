// Escapes untrusted text, such as names in a model and the output of a child process, for printing:
// it then contains neither control sequences for a terminal nor bidirectional controls, which would
// change the displayed order. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace millrace {

// Returns whether the text is valid UTF-8 and has no control characters (C0, DEL, C1), line or
// paragraph separators, or bidirectional controls.
bool is_printable(std::string_view text) noexcept;

// Returns the text with those characters escaped as in \x1b or \u202e, and bytes that are not UTF-8
// as in \xff. Printable text is unchanged, so that escaping is idempotent.
std::string printable(std::string_view text);

// Does the same, but keeps line feeds.
std::string printable_lines(std::string_view text);

}  // namespace millrace
