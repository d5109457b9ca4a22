#include "cli/command_line/commands/definitions.h"

#include "cli/command_line/commands/choose.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_env_command(CLI::App& program, CommandLine& line) {
  CLI::App* command =
      program.add_subcommand("env", "Print shell settings for building against this build");
  show_by_example(*command, {"eval \"$(millrace env)\""});
  choose(*command, run_env, line);
}

}  // namespace millrace::cli
