#include "cli/data/class_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>

#include "io/file.h"

namespace millrace::cli {
namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Returns the form of a text in which names are compared: trimmed, in lower case, _ as a space.
std::string comparable(std::string_view text) {
  std::string result(trimmed(text));
  std::ranges::transform(result, result.begin(), [](unsigned char c) {
    return c == '_' ? ' ' : static_cast<char>(std::tolower(c));
  });
  return result;
}

std::optional<size_t> number(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Returns the end of the identifier that precedes the names; 0 if there is none. An identifier is a
// first word with a digit and without a comma.
size_t identifier_end(std::string_view line) {
  const size_t end = line.find_first_of(kBlanks);
  if (end == line.npos) return 0;
  const std::string_view word = line.substr(0, end);
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  return std::ranges::any_of(word, is_digit) && word.find(',') == word.npos ? end : 0;
}

// Returns the texts that denote the class of a line besides the whole line: its identifier, all
// that follows it, and each name.
std::set<std::string> parts_of(std::string_view line) {
  std::set<std::string> parts;
  const size_t end = identifier_end(line);
  if (end > 0) parts.insert(comparable(line.substr(0, end)));
  std::string_view rest = line.substr(end);
  parts.insert(comparable(rest));
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    parts.insert(comparable(rest.substr(0, comma)));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  parts.erase("");
  return parts;
}

}  // namespace

Result<ClassNames> ClassNames::read(const std::string& path) {
  ClassNames names;
  MILLRACE_ASSIGN_OR_RETURN(names.lines_, io::read_lines(path));
  while (!names.lines_.empty() && trimmed(names.lines_.back()).empty()) names.lines_.pop_back();
  if (names.lines_.empty()) return invalid_argument(path + " names no class");
  for (size_t i = 0; i < names.lines_.size(); ++i) {
    names.whole_.emplace(comparable(names.lines_[i]), i);
    for (const std::string& part : parts_of(trimmed(names.lines_[i])))
      names.parts_.emplace(part, i);
  }
  return names;
}

std::string_view ClassNames::name(size_t index) const {
  return index < lines_.size() ? std::string_view(lines_[index]) : std::string_view();
}

Result<size_t> ClassNames::only_one(const Index& index, const std::string& text) {
  const auto [first, last] = index.equal_range(text);
  if (first == last)
    return Status(StatusCode::kNotFound, fmt::format("there is no class \"{}\"", text));
  if (std::next(first) == last) return first->second;
  return invalid_argument(fmt::format("\"{}\" may be class {} or class {}", text, first->second,
                                      std::next(first)->second));
}

Result<size_t> ClassNames::find(std::string_view text) const {
  const std::string wanted = comparable(text);
  if (whole_.contains(wanted)) return only_one(whole_, wanted);
  const std::optional<size_t> index = number(wanted);
  if (index && (lines_.empty() || *index < lines_.size())) return *index;
  return only_one(parts_, wanted);
}

}  // namespace millrace::cli
