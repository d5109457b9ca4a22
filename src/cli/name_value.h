// Parses NAME=VALUE arguments and lists of numbers. The last '=' separates name and value, so a
// name may contain '=' and a value may not: ONNX tensor names are free text; layouts, shapes and
// most paths have no '='. Thread-safe.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

struct NameValue {
  std::string name;
  std::string value;
};

// Splits an argument. kInvalidArgument if there is no '=' or one side is empty.
Result<NameValue> split_name_value(const std::string& text);

// Parses numbers of at least `least`, separated by commas. Returns an empty list if the text is
// anything else. If `unknown` has a value, ? is accepted and stands for it.
template <class Number>
std::vector<Number> parse_numbers(std::string_view text, Number least,
                                  std::optional<Number> unknown = std::nullopt) {
  std::vector<Number> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    Number number = 0;
    if (unknown && at != end && *at == '?') {
      number = *unknown;
      ++at;
    } else {
      const auto [next, error] = std::from_chars(at, end, number);
      if (error != std::errc() || number < least) return {};
      at = next;
    }
    numbers.push_back(number);
    if (at == end) return numbers;
    if (*at != ',') return {};
    ++at;
  }
}

}  // namespace millrace::cli
