// Quotes text for a shell: commands to be evaluated, options to be pasted. Names come from models,
// files and the environment, and must not become commands.
#pragma once

#include <string>
#include <string_view>

namespace millrace {

// Returns a word that every POSIX shell reads as exactly this text: it is in single quotes, and a
// single quote within it becomes '\''.
std::string shell_quoted(std::string_view text);

// Does the same, but without quotes where the text needs none.
std::string shell_word(std::string_view text);

}  // namespace millrace
