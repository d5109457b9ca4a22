// The lines by which help and manual pages show a command and its options. Thread-safe.
#pragma once

#include <string>

#include "cli/help/command_page.h"

namespace millrace::cli {

// Returns an option with its value, such as "-o, --output FILE" or "--json[=FILE]"; a positional
// argument in capitals.
std::string option_line(const OptionPage& option);

// Returns a line such as "millrace run [OPTIONS] MODEL".
std::string usage_line(const CommandPage& page, const std::string& program);

}  // namespace millrace::cli
