// Defines the commands of `millrace` and their options with the parser library CLI11. One thread.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command_line/command_line.h"

namespace millrace::cli {

// Adds all commands to the program. A command that is chosen sets the action of `line`, or its
// usage error. The arguments that the parser fills live as long as the program or the action.
void add_commands(CLI::App& program, CommandLine& line);

}  // namespace millrace::cli
