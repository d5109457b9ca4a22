#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_faults_command(CLI::App& program, CommandLine& line) {
  CLI::App* command =
      program.add_subcommand("faults", "Check and explain a plan of faults for MILLRACE_FAULTS");
  show_by_example(
      *command,
      {"millrace faults 'fail=3,slow=2ms'",
       "millrace faults 'slow:for=20ms,p=1%; seed=7' --jobs 500",
       "millrace faults 'fail:jobs=5-9,model=detector,status=NRT_EXEC_OOB'",
       "MILLRACE_FAULTS='fail=3,slow=2ms' ./program"},
      kUsualExits,
      "A plan has parts, which semicolons separate: rules, ACTION:KEY=VALUE,... with the keys of "
      "the action and those that select jobs, and settings, KEY=VALUE,...\n"
      "\n"
      "Actions of rules:\n"
      "  fail     fail instead of running;\n"
      "           status=CODE of Millrace, VART or NRT\n"
      "  degrade  fail as a broken device: DEVICE_FAILED\n"
      "  oom      fail with OUT_OF_MEMORY;\n"
      "           allocs=3: allocation 3 is refused instead\n"
      "  hang     block and cannot be stopped;\n"
      "           for=2s, otherwise for ever\n"
      "  slow     take longer; for=20ms, or by chance:\n"
      "           mean=2ms,p99=9ms, or p99=20ms for one in 100\n"
      "  nan      run, then outputs are filled with NaN;\n"
      "           output=NAME, otherwise all\n"
      "  full     the call that submits a job finds a full queue\n"
      "  fdloss   a file descriptor of memory or of an event\n"
      "           cannot be used\n"
      "\n"
      "Short forms of rules:\n"
      "  full@queue:0.1%, full@UNIT:0.1%, nan@OUTPUT,\n"
      "  oom@alloc:3, slow@p99:20ms, slow@p99:2ms,9ms\n"
      "\n"
      "Keys that select jobs:\n"
      "  jobs     jobs=7, jobs=5-9 or jobs=100-, counted from 1\n"
      "           in the order of acceptance\n"
      "  after    after=N: the jobs after the first N\n"
      "  every    every=N: every N-th of these\n"
      "  p        p=1%: each of these with that probability\n"
      "  model    model=NAME: jobs of that model\n"
      "  unit     unit=NAME: jobs of that unit,\n"
      "           which are counted on their own\n"
      "\n"
      "Settings:\n"
      "  fail=N, fail_every=N, status=CODE, hang=N,\n"
      "  hang_for=TIME, slow=TIME, fail_rate=P, hang_rate=P,\n"
      "  slow_rate=P, slow_for=TIME, seed=N\n"
      "\n"
      "The same plan strikes the same jobs in every run. docs/faults.md has more.");
  auto arguments = std::make_shared<FaultsArguments>();
  taking(command->add_option("plan", arguments->text, "the plan, in quotes"), "TEXT")->required();
  command->add_flag("--transfers", arguments->transfers,
                    "the plan is for MILLRACE_TRANSFER_FAULTS");
  as_count(command->add_option("--jobs", arguments->jobs,
                               "list what happens to each of the first N jobs or transfers"),
           1);
  taking(command->add_option("--unit", arguments->unit, "the unit of these jobs"), "NAME");
  taking(command->add_option("--model", arguments->model, "the model of these jobs"), "NAME");
  choose<FaultsArguments, run_faults>(*command, std::move(arguments), check_faults, line);
}

}  // namespace millrace::cli
