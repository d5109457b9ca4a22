#include "cli/command_line/commands/definitions.h"

#include <limits>
#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_top_command(CLI::App& program, CommandLine& line) {
  CLI::App* command = program.add_subcommand("top", "Show what the units of running programs do");
  show_by_example(*command,
                  {"MILLRACE_TOP=1 ./program & millrace top", "millrace top --once",
                   "millrace top --pid 4711 --json --interval 5"},
                  kUsualExits,
                  "Programs are shown that were started with MILLRACE_TOP=1. q or Ctrl-C ends it. "
                  "Where standard output is no terminal, it prints once: docs/top.md.");
  auto arguments = std::make_shared<TopArguments>();
  as_seconds(command->add_option("--interval", arguments->interval,
                                 "the time between two looks, at least 100ms"))
      ->capture_default_str();
  command->add_flag("--once", arguments->once, "print what happens in one interval, and end");
  command->add_flag("--json", arguments->json, "print a line of JSON after each interval instead");
  taking(as_count(command->add_option("--pid", arguments->pid, "show this process only"), 1,
                  std::numeric_limits<int32_t>::max()),
         "PID");
  choose<TopArguments, run_top>(*command, std::move(arguments), check_top, line);
}

}  // namespace millrace::cli
