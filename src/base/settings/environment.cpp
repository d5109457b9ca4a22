#include "base/settings/environment.h"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/settings/guarded_variables.h"

namespace millrace {

std::string_view environment_variable(const char* name) {
  const char* const text = is_guarded_variable(name) ? ::secure_getenv(name) : std::getenv(name);
  return text == nullptr ? std::string_view() : text;
}

std::vector<std::string> variables_with_prefix(std::string_view prefix) {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (text.starts_with(prefix) && equals + 1 < text.size())
      names.emplace_back(text.substr(0, equals));
  }
  std::ranges::sort(names);
  return names;
}

Result<uint64_t> parse_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return invalid_argument(fmt::format("\"{}\" is not a number", text));
  return number;
}

Result<uint64_t> number_variable(const char* name, uint64_t otherwise, uint64_t least,
                                 uint64_t most) {
  const std::string_view text = environment_variable(name);
  if (text.empty()) return otherwise;
  Result<uint64_t> number = parse_number(text);
  if (number.ok() && *number >= least && *number <= most) return number;
  return invalid_argument(
      fmt::format("{} is \"{}\": it takes a number from {} to {}", name, text, least, most));
}

Result<bool> switch_variable(const char* name, bool otherwise) {
  const std::string text(environment_variable(name));
  if (text.empty()) return otherwise;
  for (const char* yes : {"1", "true"})
    if (strcasecmp(text.c_str(), yes) == 0) return true;
  for (const char* no : {"0", "false"})
    if (strcasecmp(text.c_str(), no) == 0) return false;
  return invalid_argument(fmt::format("{} is \"{}\": it takes 0, 1, true or false", name, text));
}

}  // namespace millrace
