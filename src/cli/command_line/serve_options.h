// The options of `millrace serve`, which the tool and the program behind the command share. One
// thread.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "serve/options.h"

namespace millrace::cli {

// Adds the options to a command or a program. `options` must live until the last parse.
void add_serve_options(CLI::App& command, serve::Options& options);

// Reads the command line of the program. Prints the help if that is asked for. Returns the exit
// code if the program is to end at once, with a message on standard error for a wrong command line.
std::optional<int> parse_serve_options(int argc, char** argv, serve::Options& options);

}  // namespace millrace::cli
