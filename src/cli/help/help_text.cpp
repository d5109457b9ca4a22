#include "cli/help/help_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "cli/help/usage_line.h"

namespace millrace::cli {
namespace {

constexpr size_t kNarrowest = 40;
constexpr size_t kUsualWidth = 80;
constexpr size_t kIndent = 26;  // where descriptions begin
constexpr std::string_view kUsualGroup = "Options";

std::string coloured(std::string_view text, const char* code, const HelpStyle& style) {
  return style.coloured ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string heading(std::string_view text, const HelpStyle& style) {
  return "\n" + coloured(text, "1", style) + "\n";
}

// Breaks a text into lines, which all begin with `indent` blanks but the first, where `used`
// columns are taken.
std::string wrapped(std::string_view text, size_t indent, size_t used, size_t width) {
  std::string result;
  std::istringstream words{std::string(text)};
  size_t column = used;
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && column + 1 + word.size() > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

// Returns a row of a list: the name and, from the column of descriptions on, the text. A long name
// has a line of its own.
std::string row(const std::string& name, const std::string& text, const HelpStyle& style) {
  const std::string shown = "  " + coloured(name, "36", style);
  const size_t used = name.size() + 2;
  const std::string gap =
      used + 2 > kIndent ? "\n" + std::string(kIndent, ' ') : std::string(kIndent - used, ' ');
  return shown + gap + wrapped(text, kIndent, kIndent, style.width) + "\n";
}

std::string facts_of(const OptionPage& option) {
  std::vector<std::string> facts;
  if (option.required) facts.emplace_back("required");
  if (option.repeats) facts.emplace_back("may be repeated");
  if (!option.default_value.empty()) facts.push_back("default " + option.default_value);
  return facts.empty() ? "" : fmt::format(" ({})", fmt::join(facts, ", "));
}

std::string rows_of(const std::vector<OptionPage>& options, std::string_view group,
                    const HelpStyle& style) {
  std::string rows;
  for (const OptionPage& option : options)
    if (option.group == group)
      rows += row(option_line(option), option.description + facts_of(option), style);
  return rows;
}

// Returns the groups in the order of their first options.
std::vector<std::string> groups_of(const std::vector<OptionPage>& options) {
  std::vector<std::string> groups = {""};
  for (const OptionPage& option : options)
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  return groups;
}

std::string footer_text(const CommandPage& page, const HelpStyle& style) {
  std::string text;
  std::istringstream lines(page.footer);
  for (std::string line; std::getline(lines, line);)
    text += (line.starts_with("  ") ? line : wrapped(line, 0, 0, style.width)) + "\n";
  return text.empty() ? text : "\n" + text;
}

}  // namespace

HelpStyle style_of_standard_output() {
  HelpStyle style{.width = kUsualWidth};
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  const std::string_view columns = variable("COLUMNS");
  size_t width = 0;
  const auto [end, error] = std::from_chars(columns.data(), columns.data() + columns.size(), width);
  if (error == std::errc() && end == columns.data() + columns.size() && width > 0)
    style.width = std::max(width, kNarrowest);
  style.coloured =
      ::isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  return style;
}

std::string help_text(const CommandPage& page, const std::string& program, const HelpStyle& style) {
  std::string text = wrapped(page.description, 0, 0, style.width) + "\n";
  const std::string usage = usage_line(page, program);
  text += "\n" + coloured("Usage:", "1", style) + " " +
          wrapped(usage, std::string_view("Usage: ").size(), 7, style.width) + "\n";
  if (!page.commands.empty()) {
    text += heading("Commands", style);
    for (const CommandPage& command : page.commands)
      text += row(command.name, command.description, style);
  }
  if (!page.positionals.empty()) {
    text += heading("Arguments", style);
    text += rows_of(page.positionals, "", style);
  }
  for (const std::string& group : groups_of(page.options)) {
    const std::string rows = rows_of(page.options, group, style);
    if (!rows.empty()) text += heading(group.empty() ? kUsualGroup : group, style) + rows;
  }
  return text + footer_text(page, style);
}

}  // namespace millrace::cli
