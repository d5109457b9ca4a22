// Manual pages of the program and of its commands, in the macros of man(7). Thread-safe.
#pragma once

#include <string>

#include "cli/help/command_page.h"

namespace millrace::cli {

// Returns the page of a command. `program` and `version` are those of the program, as "millrace"
// and "1.0.0".
std::string man_page(const CommandPage& page, const std::string& program,
                     const std::string& version);

}  // namespace millrace::cli
