#include "cli/help/usage_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace millrace::cli {

std::string option_line(const OptionPage& option) {
  std::string line = fmt::format("{}", fmt::join(option.names, ", "));
  if (!line.starts_with('-')) {
    std::ranges::transform(line, line.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return line;
  }
  if (option.value.empty()) return line;
  return line + (option.value.starts_with('[') ? "" : " ") + option.value;
}

std::string usage_line(const CommandPage& page, const std::string& program) {
  std::string line = page.name == program ? program : program + " " + page.name;
  if (!page.commands.empty()) return line + " COMMAND [OPTIONS]";
  if (!page.options.empty()) line += " [OPTIONS]";
  for (const OptionPage& option : page.options)
    if (option.required) line += fmt::format(" {} {}", option.names.back(), option.value);
  for (const OptionPage& argument : page.positionals) {
    const std::string name = option_line(argument);
    line += argument.required ? " " + name : fmt::format(" [{}]", name);
  }
  return line;
}

}  // namespace millrace::cli
