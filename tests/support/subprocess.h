// Runs a program the way a user would: what it prints, and how it exits.
#pragma once

#include <string>
#include <vector>

namespace millrace::test {

struct ProgramResult {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

// Runs `command` (program and arguments, no shell) in `directory` and waits for it.
ProgramResult run_program(const std::vector<std::string>& command, const std::string& directory);

}  // namespace millrace::test
