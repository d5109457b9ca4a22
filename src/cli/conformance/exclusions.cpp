#include "cli/conformance/exclusions.h"

#include <fmt/format.h>

#include "io/file.h"

namespace millrace::cli {
namespace {

constexpr const char* kBlanks = " \t";

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

Status add_line(const std::string& line, Exclusions& exclusions) {
  const size_t end_of_name = line.find_first_of(kBlanks);
  if (end_of_name == std::string::npos)
    return invalid_argument(fmt::format("\"{}\" has no reason after it", line));
  const std::string name = line.substr(0, end_of_name);
  if (!exclusions.emplace(name, trimmed(line.substr(end_of_name))).second)
    return invalid_argument(fmt::format("\"{}\" occurs twice", name));
  return {};
}

}  // namespace

Result<Exclusions> read_exclusions(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::string> lines, io::read_lines(path));
  Exclusions exclusions;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string line = trimmed(lines[i]);
    if (line.empty() || line.starts_with('#')) continue;
    MILLRACE_RETURN_IF_ERROR(
        add_line(line, exclusions).with_context(fmt::format("{}, line {}", path, i + 1)));
  }
  return exclusions;
}

}  // namespace millrace::cli
