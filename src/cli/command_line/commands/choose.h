// Each command is defined by its options and, with these functions, by examples for its help and by
// the function that runs if it is chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line/command_line.h"
#include "millrace/status.hpp"

namespace millrace::cli {

inline constexpr const char* kUsualExits = "0 success, 1 failure, 2 wrong command line";

// Ends the help of the command with a note, examples of it, and its exit codes.
void show_by_example(CLI::App& command, const std::vector<std::string>& examples,
                     const char* exit_codes = kUsualExits, const char* note = "");

template <typename Arguments>
using Check = Status (*)(const Arguments&);

// If `command` is chosen, sets the action of `line` to `run` on the arguments, unless the check
// finds the command line wrong.
template <typename Arguments>
void choose(CLI::App& command, std::shared_ptr<Arguments> arguments, Check<Arguments> check,
            Result<int> (*run)(const Arguments&), CommandLine& line) {
  command.callback([arguments = std::move(arguments), check, run, &line] {
    const Status checked = check(*arguments);
    if (checked.ok())
      line.action = [arguments, run] { return run(*arguments); };
    else
      line.usage_error = checked.message();
  });
}

// Does the same for a command that returns no exit code but succeeds or fails.
template <typename Arguments, Status (*run)(const Arguments&)>
void choose(CLI::App& command, std::shared_ptr<Arguments> arguments, Check<Arguments> check,
            CommandLine& line) {
  choose<Arguments>(
      command, std::move(arguments), check,
      [](const Arguments& given) -> Result<int> {
        MILLRACE_RETURN_IF_ERROR(run(given));
        return 0;
      },
      line);
}

// Sets the action of a command without arguments.
void choose(CLI::App& command, Status (*run)(), CommandLine& line);

}  // namespace millrace::cli
