// The `millrace` program. Exit codes: 0 success, 1 failure, 2 wrong command line (both with a
// message on standard error), 3 a comparison or test that does not hold (commands.h).
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

#include "cli/command_line/command_line.h"
#include "cli/commands.h"
#include "cli/notes.h"
#include "cli/printable_message.h"
#include "cli/progress.h"
#include "cli/standard_streams.h"
#include "cli/startup.h"
#include "cli/unknown_variables.h"

namespace millrace::cli {
namespace {

int fail(const std::string& message, int exit_code) {
  fmt::print(stderr, "millrace: {}\n", printable_message(message));
  return exit_code;
}

// Runs the command. An exception is returned as a failure.
Result<int> perform(const CommandLine& line) {
  try {
    return line.action ? line.action() : 0;
  } catch (const std::exception& error) {
    return internal_error(error.what());
  }
}

int run(int argc, char** argv) {
  const CommandLine line = parse_command_line(argc, argv);
  if (!line.usage_error.empty()) return fail(line.usage_error, kWrongCommandLine);
  if (line.action) note_unknown_variables();
  const Result<int> exit_code = perform(line);
  if (!exit_code.ok()) return fail(exit_code.status().message(), kFailed);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return fail("cannot write to standard output", kFailed);
  return *exit_code;
}

}  // namespace
}  // namespace millrace::cli

int main(int argc, char** argv) {
  millrace::cli::end_of_startup();
  try {
    millrace::cli::hold_standard_streams();
    millrace::cli::Progress::allow();
    millrace::cli::allow_notes();
    return millrace::cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "millrace: %s\n", error.what());
    return millrace::cli::kFailed;
  }
}
