// Scripts by which shells complete the command line of the program. Thread-safe.
#pragma once

#include <string>

#include "cli/help/command_page.h"

namespace millrace::cli {

// Each returns a script for the program and all of its commands: names of commands and options,
// choices, files and folders.
std::string bash_completion(const CommandPage& program);
std::string zsh_completion(const CommandPage& program);
std::string fish_completion(const CommandPage& program);

}  // namespace millrace::cli
