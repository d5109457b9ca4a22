#include "cli/command_line/commands/definitions.h"

#include "cli/command_line/commands/choose.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_doctor_command(CLI::App& program, CommandLine& line) {
  CLI::App* command =
      program.add_subcommand("doctor", "Show what this machine offers and whether devices open");
  show_by_example(*command, {"millrace doctor"});
  choose(*command, run_doctor, line);
}

}  // namespace millrace::cli
