// The command line of `millrace`.
#pragma once

#include <functional>
#include <string>

#include "base/status.h"

namespace millrace::cli {

struct CommandLine {
  // Runs the chosen command and returns the exit code of the program. Empty when there is nothing
  // to run: help or the version has been printed, or there is a usage error.
  std::function<Result<int>()> action;
  int failure_code = 1;     // the exit code when the action returns an error
  std::string usage_error;  // why the command line makes no sense; empty when it does
};

CommandLine parse_command_line(int argc, char** argv);

}  // namespace millrace::cli
