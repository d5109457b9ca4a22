#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_trace_command(CLI::App& program, CommandLine& line) {
  CLI::App* command =
      program.add_subcommand("trace", "Run a program, and write a timeline of its jobs");
  show_by_example(
      *command,
      {"millrace trace -- ./program model.rai",
       "millrace trace -o bench.html -- millrace bench model.rai"},
      "0 success, 1 failure, 2 wrong command line; otherwise that of the program, 128 + "
      "N if the signal N ended it",
      "The program may use any API of Millrace. A page needs a browser only; ui.perfetto.dev "
      "opens JSON: docs/timeline.md.");
  auto arguments = std::make_shared<TraceArguments>();
  taking(command->add_option("-o,--output", arguments->output,
                             "the file to write: NAME.json, or NAME.html for browsers"),
         "FILE")
      ->capture_default_str();
  taking(
      command->add_option("program", arguments->command, "the program and its arguments, after --"),
      "PROGRAM")
      ->required();
  choose<TraceArguments>(*command, std::move(arguments), check_trace, run_trace, line);
}

}  // namespace millrace::cli
