#include "cli/report/json_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

double rounded(double value) {
  if (!std::isfinite(value)) return value;
  const auto narrow = static_cast<float>(value);
  const bool is_float = std::isfinite(narrow) && static_cast<double>(narrow) == value;
  const std::string text = is_float ? fmt::format("{}", narrow) : fmt::format("{:.6g}", value);
  return std::strtod(text.c_str(), nullptr);
}

}  // namespace

void round_numbers(Json& json) {
  if (json.is_number_float()) {
    json = rounded(json.get<double>());
  } else if (json.is_structured()) {
    for (Json& part : json) round_numbers(part);
  }
}

std::string json_line(Json json) {
  round_numbers(json);
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string json_lines(Json json) {
  round_numbers(json);
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace millrace::cli
