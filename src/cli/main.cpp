// The `millrace` program. Exit codes: 0 success, 1 a failure (one line on standard error), 2 a
// command line that makes no sense. A command that answers a question has its own: `golden`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <string>

#include "cli/command.h"

namespace millrace::cli {
namespace {

constexpr int kUsage = 2;

// Names from files may hold line ends; a message is one line.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

int fail(const std::string& message, int exit_code) {
  fmt::print(stderr, "millrace: {}\n", one_line(message));
  return exit_code;
}

int run(int argc, char** argv) {
  CLI::App app("Compile, inspect and run neural networks on the software NPU.", "millrace");
  app.set_version_flag("--version", MILLRACE_VERSION);
  app.require_subcommand(1);
  Action action;
  ExitCodes exit_codes;
  add_compile_command(app, action);
  add_inspect_command(app, action);
  add_run_command(app, action);
  add_bench_command(app, action);
  add_golden_command(app, action, exit_codes);
  add_doctor_command(app, action);
  add_env_command(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help or version
    return fail(fmt::format("{} (see millrace --help)", error.what()), kUsage);
  }
  const Status status = action();
  if (!status.ok()) return fail(status.message(), exit_codes.failure);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return fail("cannot write to standard output", exit_codes.failure);
  return exit_codes.success;
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
