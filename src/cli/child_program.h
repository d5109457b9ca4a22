// Runs a program for a command that only observes it, such as `millrace trace`.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

// Runs the program with its arguments, in the environment of this process, and waits for its end.
// Ctrl-C ends the program, and not this process. Returns its exit code, or 128 + the signal that
// ended it, as shells do; kIoError or kNotFound if it cannot be started.
Result<int> run_child_program(const std::vector<std::string>& command);

}  // namespace millrace::cli
