// Defines the program with its commands, and those that concern the command line itself: help,
// version, and the hidden one that writes manual pages and completion.
#include "cli/command_line/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "cli/command_line/commands.h"
#include "cli/command_line/option_kinds.h"
#include "cli/command_line/page_of.h"
#include "cli/command_line/problem_of.h"
#include "cli/help/help_text.h"
#include "cli/help/write_pages.h"

namespace millrace::cli {
namespace {

constexpr const char* kProgram = "millrace";

// Prints the help of the chosen command, or of the program.
void print_help(const CLI::App& program) {
  const auto chosen = program.get_subcommands();
  const CLI::App& command = chosen.empty() ? program : *chosen.front();
  fmt::print("{}", help_text(page_of(command), kProgram, style_of_standard_output()));
}

// Prints the help that the command `help` asks for.
void print_topic(const CLI::App& program, const std::string& topic, CommandLine& line) {
  const CommandPage page = page_of(program);
  const HelpStyle style = style_of_standard_output();
  if (topic.empty()) {
    fmt::print("{}", help_text(page, kProgram, style));
    return;
  }
  for (const CommandPage& command : page.commands) {
    if (command.name != topic) continue;
    fmt::print("{}", help_text(command, kProgram, style));
    return;
  }
  line.usage_error = unknown_command(program, topic);
}

void add_help_command(CLI::App& program, CommandLine& line) {
  CLI::App* command = program.add_subcommand("help", "Show the help of a command");
  const auto topic = std::make_shared<std::string>();
  taking(command->add_option("command", *topic, "the command; the program if none is given"),
         "COMMAND");
  command->callback([topic, &program, &line] { print_topic(program, *topic, line); });
}

void add_version_command(CLI::App& program) {
  program.add_subcommand("version", "Print the version")->callback([] {
    fmt::print("{}\n", MILLRACE_VERSION);
  });
}

void add_pages_command(CLI::App& program, CommandLine& line) {
  CLI::App* command =
      program.add_subcommand("pages", "Write manual pages and completion of shells");
  command->group("");
  const auto folder = std::make_shared<std::string>();
  taking(command->add_option("folder", *folder, "the folder to write to"), "DIR")->required();
  command->callback([folder, &program, &line] {
    line.action = [folder, page = page_of(program)]() -> Result<int> {
      MILLRACE_RETURN_IF_ERROR(write_pages(page, MILLRACE_VERSION, *folder));
      return 0;
    };
  });
}

void define(CLI::App& program, CommandLine& line) {
  program.set_version_flag("--version", MILLRACE_VERSION, "Print the version and exit");
  program.require_subcommand(1);
  program.footer(
      "Exit codes: 0 success, 1 failure, 2 wrong command line, 3 a comparison or test does not "
      "hold.\n\n`millrace help COMMAND` shows the options of a command.");
  add_commands(program, line);
  add_help_command(program, line);
  add_version_command(program);
  add_pages_command(program, line);
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  CLI::App program(
      "Compile, inspect and run neural networks on the software NPU. The archives are for "
      "programs of the VART-ML API (libvart-ml.so), of the NRT API (libnrt.so.1, instead of "
      "NEFFs) and of Millrace's own.",
      kProgram);
  CommandLine line;
  line.words.assign(argv + std::min(argc, 1), argv + argc);
  define(program, line);
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print_help(program);
    line.action = nullptr;
  } catch (const CLI::CallForVersion& version) {
    fmt::print("{}\n", version.what());
    line.action = nullptr;
  } catch (const CLI::ParseError& error) {
    line.usage_error = problem_of(program, error, line.words);
  }
  if (line.usage_error.empty()) return line;
  line.usage_error += " " + see_help(program);
  line.action = nullptr;
  return line;
}

}  // namespace millrace::cli
