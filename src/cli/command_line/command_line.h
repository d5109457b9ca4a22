// Parses the command line of `millrace`. The sources of this folder are the only ones that include
// CLI11: its headers define the whole library in every source that includes them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

struct CommandLine {
  std::vector<std::string> words;  // the arguments of main() after the name of the program
  // Runs the chosen command and returns the exit code of the program. Empty if there is nothing to
  // run: help or the version has been printed, or there is a usage error.
  std::function<Result<int>()> action;
  std::string usage_error;  // why the command line is invalid; empty if it is valid
};

// Parses the arguments of main(). Prints the help or the version if they are asked for.
CommandLine parse_command_line(int argc, char** argv);

}  // namespace millrace::cli
