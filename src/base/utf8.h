// UTF-8: what a name in an archive may be, and what a terminal understands. Thread-safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace millrace {

// The length of the sequence at the start of `text`, which is not empty; 0 where the text does not
// start with a valid one. NUL is none.
size_t utf8_sequence_length(std::string_view text) noexcept;

// Whether the text is valid UTF-8 without NUL.
bool is_utf8(std::string_view text) noexcept;

}  // namespace millrace
