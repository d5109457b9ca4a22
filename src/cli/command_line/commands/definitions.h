// Adds one command each to the program, with its options. The parser fills an object of arguments,
// which the action of the command line keeps alive until it runs. The files have the names of the
// commands.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command_line/command_line.h"

namespace millrace::cli {

void add_compile_command(CLI::App& program, CommandLine& line);
void add_inspect_command(CLI::App& program, CommandLine& line);
void add_run_command(CLI::App& program, CommandLine& line);
void add_bench_command(CLI::App& program, CommandLine& line);
void add_shard_command(CLI::App& program, CommandLine& line);
void add_compare_command(CLI::App& program, CommandLine& line);
void add_evaluate_command(CLI::App& program, CommandLine& line);
void add_explain_command(CLI::App& program, CommandLine& line);
void add_tune_command(CLI::App& program, CommandLine& line);
void add_golden_command(CLI::App& program, CommandLine& line);
void add_replay_command(CLI::App& program, CommandLine& line);
void add_faults_command(CLI::App& program, CommandLine& line);
void add_pace_command(CLI::App& program, CommandLine& line);
void add_simulate_command(CLI::App& program, CommandLine& line);
void add_trace_command(CLI::App& program, CommandLine& line);
void add_check_command(CLI::App& program, CommandLine& line);
void add_top_command(CLI::App& program, CommandLine& line);
void add_conformance_command(CLI::App& program, CommandLine& line);
void add_serve_command(CLI::App& program, CommandLine& line);
void add_doctor_command(CLI::App& program, CommandLine& line);
void add_env_command(CLI::App& program, CommandLine& line);

}  // namespace millrace::cli
