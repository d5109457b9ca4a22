#include "cli/help/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

#include "cli/help/usage_line.h"

namespace millrace::cli {
namespace {

// Returns the text with everything escaped that roff would interpret.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  // A control character at the beginning of a line begins a macro.
  if (escaped.starts_with('.') || escaped.starts_with('\'')) escaped.insert(0, "\\&");
  return escaped;
}

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string option_entry(const OptionPage& option) {
  std::string entry =
      fmt::format(".TP\n.B {}\n{}", roff(option_line(option)), roff(option.description));
  if (!option.default_value.empty())
    entry += fmt::format(" (default {})", roff(option.default_value));
  return entry + "\n";
}

std::string options_section(const CommandPage& page) {
  std::string section;
  std::vector<std::string> groups;
  for (const OptionPage& option : page.options)
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  std::ranges::stable_sort(groups, {}, [](const std::string& group) { return !group.empty(); });
  for (const std::string& group : groups) {
    section += group.empty() ? ".SH OPTIONS\n" : fmt::format(".SS {}\n", roff(group));
    for (const OptionPage& option : page.options)
      if (option.group == group) section += option_entry(option);
  }
  return section;
}

// Lines that begin with two blanks are examples.
std::string notes_section(const CommandPage& page) {
  if (page.footer.empty()) return {};
  std::string section = ".SH NOTES\n";
  std::istringstream lines(page.footer);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty())
      section += ".PP\n";
    else if (line.starts_with("  "))
      section += ".RS\n.nf\n" + roff(line.substr(2)) + "\n.fi\n.RE\n";
    else
      section += roff(line) + "\n";
  }
  return section;
}

}  // namespace

std::string man_page(const CommandPage& page, const std::string& program,
                     const std::string& version) {
  const std::string name = page.name == program ? program : program + "-" + page.name;
  std::string text =
      fmt::format(".TH {} 1 \"\" \"{} {}\" \"\"\n", in_capitals(roff(name)), program, version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(page.description));
  text += fmt::format(".SH SYNOPSIS\n.B {}\n", roff(usage_line(page, program)));
  if (!page.commands.empty()) text += ".SH COMMANDS\n";
  for (const CommandPage& command : page.commands)
    text += fmt::format(".TP\n.B {}\n{}\n", roff(command.name), roff(command.description));
  if (!page.positionals.empty()) text += ".SH ARGUMENTS\n";
  for (const OptionPage& argument : page.positionals) text += option_entry(argument);
  return text + options_section(page) + notes_section(page);
}

}  // namespace millrace::cli
