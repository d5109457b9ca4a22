// The help of a command, as text for a terminal. Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "cli/help/command_page.h"

namespace millrace::cli {

struct HelpStyle {
  size_t width = 80;      // no line is longer, but for words that are
  bool coloured = false;  // headings bold, names of options and commands in colour
};

// Returns the style for standard output: as wide as COLUMNS says, at most 80 columns without it;
// coloured on terminals unless NO_COLOR is set or TERM is "dumb".
HelpStyle style_of_standard_output();

// Returns the help. `program` precedes the name of a command: "millrace".
std::string help_text(const CommandPage& page, const std::string& program, const HelpStyle& style);

}  // namespace millrace::cli
