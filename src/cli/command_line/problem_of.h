// Says what is wrong with a command line that the parser refuses. One thread.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace millrace::cli {

// Returns the message for an error of the parser, with the nearest option or command for one that
// there is not, and with the help to look at. `words` are the arguments of main() behind the name
// of the program.
std::string problem_of(const CLI::App& program, const CLI::ParseError& error,
                       const std::vector<std::string>& words);

// Returns the message for a word that is no command.
std::string unknown_command(const CLI::App& program, const std::string& word);

// Returns "(see millrace run --help)" for the command that was chosen, or for the program.
std::string see_help(const CLI::App& program);

}  // namespace millrace::cli
