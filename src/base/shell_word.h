// Text that is printed for a shell to read: commands to be evaluated, options to be pasted. Names
// come from models, files and the environment, and must not become commands.
#pragma once

#include <string>
#include <string_view>

namespace millrace {

// A word that every POSIX shell reads as exactly this text, whatever is in it: in single quotes,
// and those within it as '\''.
std::string shell_quoted(std::string_view text);

// The same, without quotes where the text needs none.
std::string shell_word(std::string_view text);

}  // namespace millrace
