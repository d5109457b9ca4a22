#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_conformance_command(CLI::App& program, CommandLine& line) {
  CLI::App* command = program.add_subcommand("conformance", "Run the ONNX backend tests");
  show_by_example(*command, {"millrace conformance --onnx-tests /usr/share/libonnx-testdata/data"},
                  "0 no case failed (it may be unsupported), 1 failure, 2 wrong command line, 3 "
                  "some cases failed");
  auto arguments = std::make_shared<ConformanceArguments>();
  taking(command->add_option("--onnx-tests", arguments->onnx_tests,
                             "the folder that holds the folders node, simple and so on"),
         "DIR")
      ->required();
  taking(command->add_option("--junit", arguments->junit, "write a JUnit file"), "FILE");
  taking(command->add_option("--table", arguments->table,
                             "write the results by operator, in Markdown"),
         "FILE");
  taking(command->add_option("--filter", arguments->filter,
                             "only cases that match the pattern, as 'node/test_abs*' or "
                             "'*_expanded'"),
         "PATTERN");
  taking(command->add_option("--exclude", arguments->exclude,
                             "a text file of cases to leave out: one line each with name and "
                             "reason"),
         "FILE");
  as_count(command->add_option("--jobs", arguments->jobs,
                               "number of cases to run at a time; 0: as many as there are cores"),
           0, 1024)
      ->capture_default_str();
  taking(
      command->add_option("--time-limit", arguments->time_limit, "time limit of each case, as 30s"),
      "TIME")
      ->capture_default_str();
  choose<ConformanceArguments>(*command, std::move(arguments), check_conformance, run_conformance,
                               line);
}

}  // namespace millrace::cli
