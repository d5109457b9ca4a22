// Quotes text for a POSIX shell, in commands that are printed for users to run. Names come from
// models, files and the environment, and must not be able to inject commands. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace millrace {

// Returns a word that every POSIX shell reads as exactly this text: it is in single quotes, and a
// single quote within it becomes '\''.
std::string shell_quoted(std::string_view text);

// Does the same, but without quotes if the text needs none.
std::string shell_word(std::string_view text);

}  // namespace millrace
