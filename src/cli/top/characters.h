// Cuts texts for a terminal, whose columns hold characters rather than bytes. Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::cli {

// Returns the first `count` code points of a UTF-8 text, or all of it if it has fewer.
std::string_view first_characters(std::string_view text, size_t count) noexcept;

// Returns the text if it has at most `count` code points; otherwise its beginning and a '~'.
std::string shortened_to(std::string_view text, size_t count);

}  // namespace millrace::cli
