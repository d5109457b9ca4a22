// NAME=VALUE arguments. The name may itself contain '=' only if the value does not: the last '='
// separates, since ONNX tensor names are free text and layouts, shapes and most paths are not.
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

// kInvalidArgument when there is no '=' or one side is empty.
Result<NameValue> split_name_value(const std::string& text);

// Numbers with commas between them; empty when the text is anything else. `unknown`, if there is
// one, stands for the number that is written as ?.
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
