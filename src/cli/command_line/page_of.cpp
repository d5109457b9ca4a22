#include "cli/command_line/page_of.h"

#include <algorithm>
#include <string>
#include <vector>

namespace millrace::cli {
namespace {

// The devices of the project; plugins add others.
const std::vector<std::string> kDevices = {"cpu", "null", "faulty-cpu"};

OptionPage describe(const CLI::Option& option) {
  constexpr const char* kUsualGroup = "Options";
  OptionPage page;
  for (const std::string& name : option.get_snames()) page.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) page.names.push_back("--" + name);
  if (page.names.empty()) page.names.push_back(option.get_name(true));
  page.value = option.get_type_name();
  const bool is_flag = option.get_items_expected_max() == 0;
  if (is_flag && !page.value.starts_with('[')) page.value.clear();
  if (page.value == "DEVICE") page.suggestions = kDevices;
  page.description = option.get_description();
  page.group = option.get_group() == kUsualGroup ? "" : option.get_group();
  page.default_value = option.get_default_str();
  page.required = option.get_required();
  page.repeats = option.get_items_expected_max() > 1;
  return page;
}

// Adds the options of a command, and those of the groups in it, which are commands without a name.
void add_options(const CLI::App& command, CommandPage& page) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? page.positionals : page.options).push_back(describe(*option));
  }
  for (const CLI::App* group : command.get_subcommands([](const CLI::App*) { return true; }))
    if (group->get_name().empty()) add_options(*group, page);
}

// Suggests the commands of the program as arguments of its command `help`.
void suggest_commands(CommandPage& program) {
  std::vector<std::string> names;
  for (const CommandPage& command : program.commands) names.push_back(command.name);
  for (CommandPage& command : program.commands)
    for (OptionPage& positional : command.positionals)
      if (positional.value == "COMMAND") positional.suggestions = names;
}

}  // namespace

CommandPage page_of(const CLI::App& command) {
  CommandPage page;
  page.name = command.get_name();
  page.description = command.get_description();
  page.footer = command.get_footer();
  add_options(command, page);
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
    if (!below->get_name().empty() && !below->get_group().empty())
      page.commands.push_back(page_of(*below));
  suggest_commands(page);
  return page;
}

}  // namespace millrace::cli
