#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/commands/definitions.h"
#include "cli/command_line/option_kinds.h"
#include "cli/command_line/shared_options.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_replay_command(CLI::App& program, CommandLine& line) {
  CLI::App* command = program.add_subcommand(
      "replay", "Run the jobs of a recorded program again, and compare their outputs");
  show_by_example(*command,
                  {"MILLRACE_RECORD=record ./program model.rai", "millrace replay record",
                   "millrace replay record --in-time --rtol 0.01 --atol 1e-5"},
                  "0 equal within the tolerances, 1 failure, 2 wrong command line, 3 different",
                  "The program may use any API of Millrace. docs/record.md has more.");
  auto arguments = std::make_shared<ReplayArguments>();
  taking(command->add_option("folder", arguments->folder, "the folder of the record"), "DIR")
      ->required();
  command->add_flag("--in-time", arguments->in_time,
                    "submit each job at its recorded time; otherwise as soon as there is room");
  as_number(command->add_option("--rtol", arguments->relative_tolerance,
                                "elements may differ by this share of the recorded value, as "
                                "0.01, plus --atol"),
            0);
  as_number(command->add_option("--atol", arguments->absolute_tolerance,
                                "elements may differ by this much, plus --rtol; without either, "
                                "their bits must be equal"),
            0);
  as_seconds(command->add_option("--timeout", arguments->timeout_seconds,
                                 "how long a job may take, as 60s"));
  add_device_flag(*command, arguments->device);
  add_json_flag(*command, arguments->json);
  const auto any_is_right = [](const ReplayArguments&) { return Status(); };
  choose<ReplayArguments>(*command, std::move(arguments), any_is_right, run_replay, line);
}

}  // namespace millrace::cli
