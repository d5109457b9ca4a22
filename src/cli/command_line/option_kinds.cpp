#include "cli/command_line/option_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "cli/arguments/quantity.h"
#include "cli/arguments/suggestion.h"

namespace millrace::cli {
namespace {

// Makes a validator of a function that reads a text and returns it as CLI11 reads it, or an error.
// Without a description, since CLI11 would add that to what the option takes.
template <class Read>
CLI::Validator reader(Read read) {
  return CLI::Validator(
      [read](std::string& text) {
        const Result<std::string> found = read(text);
        if (!found.ok()) return found.status().message();
        text = *found;
        return std::string();
      },
      "");
}

}  // namespace

CLI::Option* as_choice(CLI::Option* option, const std::vector<std::string>& words) {
  option->transform(reader([words](const std::string& text) -> Result<std::string> {
    if (std::ranges::find(words, text) != words.end()) return text;
    return invalid_argument(fmt::format("\"{}\" is none of {}{}", text, fmt::join(words, ", "),
                                        did_you_mean(text, words)));
  }));
  return option->type_name(fmt::format("{}", fmt::join(words, "|")));
}

CLI::Option* as_count(CLI::Option* option, uint64_t least, uint64_t most) {
  option->transform(reader([least, most](const std::string& text) -> Result<std::string> {
    MILLRACE_ASSIGN_OR_RETURN(const uint64_t count, parse_count(text));
    if (count < least || count > most)
      return invalid_argument(fmt::format("{} is not in the range {} to {}", text, least, most));
    return std::to_string(count);
  }));
  return option->type_name("COUNT");
}

CLI::Option* as_number(CLI::Option* option, double least, double most) {
  option->transform(reader([least, most](const std::string& text) -> Result<std::string> {
    MILLRACE_ASSIGN_OR_RETURN(const double number, parse_number(text));
    if (number < least) return invalid_argument(fmt::format("{} is less than {:g}", text, least));
    if (number > most) return invalid_argument(fmt::format("{} is greater than {:g}", text, most));
    return fmt::format("{}", number);
  }));
  return option->type_name("NUMBER");
}

CLI::Option* as_seconds(CLI::Option* option) {
  option->transform(reader([](const std::string& text) -> Result<std::string> {
    MILLRACE_ASSIGN_OR_RETURN(const auto time, parse_time(text));
    return fmt::format("{}", std::chrono::duration<double>(time).count());
  }));
  return option->type_name("TIME");
}

CLI::Option* taking(CLI::Option* option, const char* what) {
  return option->type_name(what);
}

void take_one_argument_each(CLI::App& command) {
  const auto any = [](CLI::Option*) { return true; };
  for (CLI::Option* option : command.get_options(any))
    if (!option->get_positional()) option->allow_extra_args(false);
  for (CLI::App* below : command.get_subcommands([](CLI::App*) { return true; }))
    take_one_argument_each(*below);
}

}  // namespace millrace::cli
