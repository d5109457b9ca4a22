#include "cli/command_line/commands/choose.h"

#include <fmt/format.h>

namespace millrace::cli {

void show_by_example(CLI::App& command, const std::vector<std::string>& examples,
                     const char* exit_codes, const char* note) {
  std::string footer;
  if (*note != 0) footer += fmt::format("{}\n\n", note);
  footer += examples.size() == 1 ? "Example:\n" : "Examples:\n";
  for (const std::string& example : examples) footer += fmt::format("  {}\n", example);
  command.footer(footer + fmt::format("\nExit codes: {}.", exit_codes));
}

void choose(CLI::App& command, Status (*run)(), CommandLine& line) {
  command.callback([run, &line] {
    line.action = [run]() -> Result<int> {
      MILLRACE_RETURN_IF_ERROR(run());
      return 0;
    };
  });
}

}  // namespace millrace::cli
