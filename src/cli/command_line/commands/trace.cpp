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
       "millrace trace -o bench.html -- millrace bench model.rai",
       "millrace trace --processes -- mpirun -n 4 ./program",
       "millrace trace --merge -o ranks.html rank0.json rank1.json"},
      "0 success, 1 failure, 2 wrong command line; otherwise that of the program, 128 + "
      "N if the signal N ended it",
      "The program may use any API of Millrace. A page needs a browser only; ui.perfetto.dev "
      "opens JSON: docs/timeline.md.");
  auto arguments = std::make_shared<TraceArguments>();
  taking(command->add_option("-o,--output", arguments->output,
                             "the file to write: NAME.json, or NAME.html for browsers"),
         "FILE")
      ->capture_default_str();
  command->add_flag("--processes", arguments->processes,
                    "put all processes that the program starts into one timeline, such as ranks");
  command->add_flag("--merge", arguments->merge,
                    "put traces of several processes together, and run no program");
  taking(command->add_option("program", arguments->command,
                             "the program and its arguments, after --; with --merge the traces"),
         "PROGRAM");
  choose<TraceArguments>(*command, std::move(arguments), check_trace, run_trace, line);
}

}  // namespace millrace::cli
