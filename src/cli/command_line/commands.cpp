#include "cli/command_line/commands.h"

#include "cli/command_line/commands/definitions.h"
#include "cli/command_line/option_kinds.h"

namespace millrace::cli {

void add_commands(CLI::App& program, CommandLine& line) {
  add_compile_command(program, line);
  add_inspect_command(program, line);
  add_run_command(program, line);
  add_bench_command(program, line);
  add_shard_command(program, line);
  add_compare_command(program, line);
  add_evaluate_command(program, line);
  add_explain_command(program, line);
  add_tune_command(program, line);
  add_golden_command(program, line);
  add_replay_command(program, line);
  add_faults_command(program, line);
  add_pace_command(program, line);
  add_simulate_command(program, line);
  add_trace_command(program, line);
  add_check_command(program, line);
  add_top_command(program, line);
  add_conformance_command(program, line);
  add_serve_command(program, line);
  add_doctor_command(program, line);
  add_env_command(program, line);
  take_one_argument_each(program);
}

}  // namespace millrace::cli
