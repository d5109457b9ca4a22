#include "cli/command_line/problem_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "cli/arguments/suggestion.h"
#include "cli/command_line/page_of.h"

namespace millrace::cli {
namespace {

std::vector<std::string> command_names(const CommandPage& program) {
  std::vector<std::string> names;
  for (const CommandPage& command : program.commands) names.push_back(command.name);
  return names;
}

std::vector<std::string> option_names(const CommandPage& command) {
  std::vector<std::string> names;
  for (const OptionPage& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word.starts_with('-');
}

std::string without_value(const std::string& word) {
  return word.substr(0, word.find('='));
}

// Returns which commands have the option; empty if none has.
std::string owners_of(const CommandPage& program, const std::string& option) {
  std::vector<std::string> owners;
  for (const CommandPage& command : program.commands)
    if (const auto names = option_names(command); std::ranges::find(names, option) != names.end())
      owners.push_back("millrace " + command.name);
  return fmt::format("{}", fmt::join(owners, ", "));
}

std::string unknown_option(const CommandPage& program, const CommandPage& command,
                           const std::string& word) {
  const std::string option = without_value(word);
  const std::string where =
      command.name == program.name ? command.name : "millrace " + command.name;
  std::string message = fmt::format("{} has no option {}", where, option);
  const std::string owners = owners_of(program, option);
  if (!owners.empty()) return fmt::format("{}; it is one of {}", message, owners);
  return message + did_you_mean(option, option_names(command));
}

// A value behind an option that takes it joined only is left over, or taken for the model.
std::optional<std::string> separate_value(const CommandPage& command,
                                          const std::vector<std::string>& words) {
  for (const OptionPage& option : command.options) {
    if (!option.value.starts_with('[')) continue;
    const auto given = std::ranges::find(words, option.names.back());
    if (given == words.end() || given + 1 == words.end() || is_option(*(given + 1))) continue;
    return fmt::format("unexpected argument \"{}\"; a value of {} is written {}={}", *(given + 1),
                       option.names.back(), option.names.back(), *(given + 1));
  }
  return std::nullopt;
}

std::string left_over(const CommandPage& command, const std::vector<std::string>& rest,
                      const std::vector<std::string>& words) {
  if (const auto message = separate_value(command, words)) return *message;
  std::string message = fmt::format("unexpected argument \"{}\"", rest.front());
  // A further value of a list, behind the option and its first value.
  const auto word = std::ranges::find(words, rest.front());
  const auto last = std::find_if(std::make_reverse_iterator(word), words.rend(), is_option);
  for (const OptionPage& option : command.options)
    if (option.repeats && last != words.rend() &&
        std::ranges::find(option.names, *last) != option.names.end())
      message += fmt::format("; each value of {0} has a {0} of its own", *last);
  return message;
}

// Returns the message of the parser, in the words of this program where its own are unclear.
std::string as_parser_says(const CLI::ParseError& error, const CommandPage& program,
                           bool has_command) {
  if (!has_command)
    return fmt::format("name a command: {}", fmt::join(command_names(program), ", "));
  const std::string message = error.what();
  const size_t missing = message.find(": 1 required");
  if (missing != message.npos && message.ends_with("missing"))
    return message.substr(0, missing) + " needs a value";
  return message;
}

}  // namespace

std::string unknown_command(const CLI::App& program, const std::string& word) {
  const std::vector<std::string> names = command_names(page_of(program));
  const std::string suggestion = did_you_mean(word, names);
  return fmt::format("there is no command \"{}\"{}; the commands are {}", word, suggestion,
                     fmt::join(names, ", "));
}

std::string see_help(const CLI::App& program) {
  const auto chosen = program.get_subcommands();
  return chosen.empty() ? "(see millrace --help)"
                        : fmt::format("(see millrace {} --help)", chosen.front()->get_name());
}

std::string problem_of(const CLI::App& program, const CLI::ParseError& error,
                       const std::vector<std::string>& words) {
  const auto chosen = program.get_subcommands();
  const CLI::App& command = chosen.empty() ? program : *chosen.front();
  const CommandPage whole = page_of(program), page = page_of(command);
  const std::vector<std::string> rest = command.remaining(), in_front = program.remaining();
  // An option that there is not is the cause of what else the parser misses.
  if (const auto option = std::ranges::find_if(in_front, is_option); option != in_front.end())
    return unknown_option(whole, whole, *option);
  if (const auto option = std::ranges::find_if(rest, is_option); option != rest.end())
    return unknown_option(whole, page, *option);
  if (chosen.empty() && !words.empty() && !is_option(words.front()))
    return unknown_command(program, words.front());
  if (!chosen.empty() && !rest.empty()) return left_over(page, rest, words);
  return as_parser_says(error, whole, !chosen.empty());
}

}  // namespace millrace::cli
