// The `millrace` program. Exit codes: 0 success, 1 a failure (one line on standard error), 2 a
// command line that makes no sense.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "cli/command.h"

namespace millrace::cli {
namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

int run(int argc, char** argv) {
  CLI::App app("Compile, inspect and run neural networks on the software NPU.", "millrace");
  app.set_version_flag("--version", MILLRACE_VERSION);
  app.require_subcommand(1);
  Action action;
  add_compile_command(app, action);
  add_inspect_command(app, action);
  add_run_command(app, action);
  add_bench_command(app, action);
  add_doctor_command(app, action);
  add_env_command(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  const Status status = action();
  if (status.ok()) return 0;
  fmt::print(stderr, "millrace: {}\n", status.message());
  return kFailure;
}

}  // namespace
}  // namespace millrace::cli

int main(int argc, char** argv) {
  try {
    return millrace::cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "millrace: %s\n", error.what());
    return 1;
  }
}
