// Validation of UTF-8, for names in an archive and for text on a terminal. Thread-safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace millrace {

// Returns the length of the UTF-8 sequence at the start of `text`; 0 if the text does not start
// with a valid one. NUL counts as invalid. Requirement: `text` is not empty.
size_t utf8_sequence_length(std::string_view text) noexcept;

// Returns whether the text is valid UTF-8 without NUL.
bool is_utf8(std::string_view text) noexcept;

}  // namespace millrace
