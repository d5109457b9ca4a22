#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_pace_command(CLI::App& program, CommandLine& line) {
  CLI::App* command =
      program.add_subcommand("pace", "Make a profile of the times of another device");
  show_by_example(*command,
                  {"millrace pace --from system_profile_1.json -o board.json",
                   "millrace pace --time resnet50=2.1ms,3ms --lanes 4 -o board.json",
                   "MILLRACE_PACE=board.json ./program"},
                  kUsualExits,
                  "Logs are system traces of NRT and profiles of VART (ai_analyzer_profiling).\n"
                  "docs/pace.md has more.");
  auto arguments = std::make_shared<PaceArguments>();
  taking(command->add_option("-o,--output", arguments->output, "the profile to write"), "FILE")
      ->required();
  taking(command->add_option("--from", arguments->logs, "a log of the device (may be repeated)"),
         "FILE");
  taking(command->add_option("--time", arguments->times,
                             "time of a model: its mean, and its 99th percentile if it varies; "
                             "the name * is any other model (may be repeated)"),
         "NAME=MEAN,P99");
  taking(command->add_option("--device", arguments->device, "the device whose times these are"),
         "NAME");
  as_count(
      command->add_option("--lanes", arguments->lanes, "how many jobs that device runs at a time"),
      1, 1024);
  taking(command->add_option("--bandwidth", arguments->bandwidth,
                             "bytes per second of its transfers, as 8G"),
         "NUMBER");
  choose<PaceArguments, run_pace>(*command, std::move(arguments), check_pace, line);
}

}  // namespace millrace::cli
