#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_check_command(CLI::App& program, CommandLine& line) {
  CLI::App* command =
      program.add_subcommand("check", "Run a program, and find its mistakes with jobs and memory");
  show_by_example(*command,
                  {"millrace check -- ./program model.rai",
                   "millrace check --exit-code 9 --json findings.json -- ./program model.rai"},
                  "0 success, 1 failure, 2 wrong command line; otherwise that of the program, 128 "
                  "+ N if the signal N ended it",
                  "The program may use any API of Millrace. docs/hazards.md shows each hazard in "
                  "a wrong and a right program.");
  auto arguments = std::make_shared<CheckArguments>();
  taking(
      command->add_option("--json", arguments->json, "write the findings, a line of JSON for each"),
      "FILE");
  as_count(command->add_option("--exit-code", arguments->exit_code,
                               "the exit code if anything was found"),
           1, 255);
  command->add_flag("--strict-sync", arguments->strict_sync,
                    "let VART tensors have device memory of their own, to find missing syncs "
                    "(MILLRACE_STRICT_SYNC=1)");
  taking(
      command->add_option("program", arguments->command, "the program and its arguments, after --"),
      "PROGRAM")
      ->required();
  choose<CheckArguments>(*command, std::move(arguments), check_check, run_check, line);
}

}  // namespace millrace::cli
