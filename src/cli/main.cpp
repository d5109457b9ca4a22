// The `millrace` program. Exit codes: 0 success, 1 a failure (a line on standard error), 2 a
// command line that makes no sense. A command that answers a question has its own: `golden`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace millrace::cli {
namespace {

constexpr int kUsage = 2;

// Names from files may hold line ends; a message is one line, and indented ones where it is a list.
std::string printable(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const bool goes_on = text[i] == '\n' && text.compare(i + 1, 2, "  ") == 0;
    if (std::iscntrl(static_cast<unsigned char>(text[i])) != 0 && !goes_on) text[i] = ' ';
  }
  return text;
}

int fail(const std::string& message, int exit_code) {
  fmt::print(stderr, "millrace: {}\n", printable(message));
  return exit_code;
}

// What the command line has in the place of a command, which the parser only misses.
std::string problem_of(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (!app.get_subcommands().empty() || word.empty() || word.starts_with('-')) return error.what();
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return fmt::format("there is no command \"{}\"; the commands are {}", word,
                     fmt::join(names, ", "));
}

int run(int argc, char** argv) {
  CLI::App app(
      "Compile, inspect and run neural networks on the software NPU. The archives are for "
      "programs of the VART-ML API (libvart-ml.so), of the NRT API (libnrt.so.1, in the "
      "place of NEFFs) and of Millrace's own.",
      "millrace");
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
    return fail(fmt::format("{} (see millrace --help)", problem_of(app, error, argc, argv)),
                kUsage);
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
