#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_simulate_command(CLI::App& program, CommandLine& line) {
  CLI::App* command =
      program.add_subcommand("simulate", "Simulate loads on a device in virtual time");
  show_by_example(*command,
                  {"millrace simulate board.json --model resnet50 --qps 100,200,400",
                   "millrace simulate board.json --in-flight 1,2,4,8 --lanes 2",
                   "millrace simulate board.json --qps 300 --depth 4 --when-full refuse"});
  auto arguments = std::make_shared<SimulateArguments>();
  taking(command->add_option("profile", arguments->profile,
                             "times of a device, as millrace pace writes them"),
         "FILE")
      ->required();
  taking(command->add_option("--model", arguments->model,
                             "the model; needed if the profile has several"),
         "NAME");
  taking(command->add_option("--qps", arguments->per_second, "mean rates at which jobs arrive"),
         "LIST");
  taking(command->add_option("--in-flight", arguments->in_flight,
                             "numbers of jobs that are kept in flight"),
         "LIST");
  as_choice(command->add_option("--arrivals", arguments->arrivals,
                                "when jobs arrive: at random, or at equal distances"),
            {"poisson", "even"})
      ->capture_default_str();
  as_count(command->add_option("--lanes", arguments->lanes,
                               "how many jobs run at a time; otherwise as the profile says, or 1"),
           1, 1024);
  as_count(command->add_option("--units", arguments->units,
                               "queues, to which jobs go in turn; otherwise one for each lane"),
           1, 1024);
  as_count(command->add_option("--depth", arguments->depth,
                               "jobs that wait or run in each unit, at most"),
           1, 1'000'000)
      ->capture_default_str();
  as_choice(command->add_option("--when-full", arguments->when_full,
                                "what becomes of a job whose unit is full"),
            {"block", "refuse", "drop-oldest"})
      ->capture_default_str();
  as_count(command->add_option("--ranks", arguments->ranks, "devices that run each job together"),
           1, 1024)
      ->capture_default_str();
  as_count(command->add_option("-n,--jobs", arguments->jobs, "number of jobs of each load"), 1,
           10'000'000)
      ->capture_default_str();
  as_count(command->add_option("--seed", arguments->seed, "seed of arrivals and times"), 0)
      ->capture_default_str();
  taking(command->add_option("--plot", arguments->plot, "draw latency and use of the lanes as SVG"),
         "FILE");
  command->add_flag("--json", arguments->json, "print one line of JSON");
  choose<SimulateArguments, run_simulate>(*command, std::move(arguments), check_simulate, line);
}

}  // namespace millrace::cli
