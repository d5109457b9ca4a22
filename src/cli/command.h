// The commands of `millrace`. Each lives in a file of its own: it declares its options on a CLI11
// subcommand and, when chosen, runs and returns a Status. main() alone prints errors and exits.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "base/status.h"

namespace millrace::cli {

// What the chosen subcommand leaves to run once the command line was parsed as a whole.
using Action = std::function<Status()>;

// What the program ends with; a command may have codes of its own.
struct ExitCodes {
  int success = 0;
  int failure = 1;
};

void add_compile_command(CLI::App& app, Action& action);
void add_inspect_command(CLI::App& app, Action& action);
void add_run_command(CLI::App& app, Action& action);
void add_bench_command(CLI::App& app, Action& action);
void add_golden_command(CLI::App& app, Action& action, ExitCodes& exit_codes);
void add_doctor_command(CLI::App& app, Action& action);
void add_env_command(CLI::App& app, Action& action);

}  // namespace millrace::cli
