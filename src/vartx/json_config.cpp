// Lenient conversions over nlohmann::json. Every conversion receives the path of its value, which
// error messages name.
#include "vartx/json_config.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/float_environment.h"

namespace millrace::vartx {
namespace {

using nlohmann::json;

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Parses the whole text as a number; nullopt if it is not one.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  text = trimmed(text);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view text_in(const json& value) {
  return value.get_ref<const std::string&>();
}

// True for a blank string, as which property trees write an empty list or object, and programs a
// setting that is not set.
bool is_empty_text(const json& value) {
  return value.is_string() && trimmed(text_in(value)).empty();
}

// True for a blank string, for null, and for the string "null" that a property tree makes of it.
bool is_missing(const json& value) {
  return value.is_null() || is_empty_text(value) || (value.is_string() && text_in(value) == "null");
}

[[noreturn]] void refuse(const std::string& path, const json& value, std::string_view wanted) {
  constexpr size_t kLongest = 60;
  std::string shown = value.dump();
  if (shown.size() > kLongest) shown = shown.substr(0, kLongest) + "...";
  throw std::invalid_argument(fmt::format("\"{}\": {} is not {}", path, shown, wanted));
}

// A parser callback that refuses deeply nested text: nlohmann::json copies and prints values
// recursively, so the depth must be limited to bound the use of the stack.
bool refuse_depth(int depth, json::parse_event_t, const json&) {
  constexpr int kDeepest = 64;
  if (depth > kDeepest)
    throw std::invalid_argument(
        fmt::format("the configuration is nested more than {} levels deep", kDeepest));
  return true;
}

float number_in(const json& value, const std::string& path) {
  std::optional<double> number;
  if (value.is_number()) number = value.get<double>();
  if (value.is_string()) number = parse_number<double>(text_in(value));
  if (!number || !std::isfinite(static_cast<float>(*number))) refuse(path, value, "a number");
  return static_cast<float>(*number);
}

std::optional<int64_t> whole_part(double number) {
  constexpr double kLimit = 9.2e18;  // within the range of int64_t
  if (std::trunc(number) != number || std::abs(number) > kLimit) return std::nullopt;
  return static_cast<int64_t>(number);
}

int64_t integer_in(const json& value, const std::string& path) {
  std::optional<int64_t> number;
  if (value.is_number()) number = whole_part(value.get<double>());
  if (value.is_number_integer() && !value.is_number_unsigned()) number = value.get<int64_t>();
  if (value.is_string()) {
    number = parse_number<int64_t>(text_in(value));
    const std::optional<double> real = parse_number<double>(text_in(value));
    if (!number && real) number = whole_part(*real);
  }
  if (!number) refuse(path, value, "an integer");
  return *number;
}

bool boolean_in(const json& value, const std::string& path) {
  if (value.is_boolean()) return value.get<bool>();
  const std::string text(trimmed(value.is_string() ? text_in(value) : value.dump()));
  if (text == "1" || text == "true" || text == "True" || text == "TRUE") return true;
  if (text != "0" && text != "false" && text != "False" && text != "FALSE")
    refuse(path, value, "true or false");
  return false;
}

std::string string_in(const json& value, const std::string& path) {
  if (value.is_string()) return std::string(text_in(value));
  if (value.is_structured()) refuse(path, value, "a text");
  return value.dump();
}

// Returns read(element, path) for each element of a list, or for the value itself if it is no list.
template <class Read>
auto list_in(const json& value, const std::string& path, Read&& read) {
  std::vector<decltype(read(value, path))> list;
  if (is_empty_text(value)) return list;
  if (!value.is_array()) {
    list.push_back(read(value, path));
    return list;
  }
  for (size_t i = 0; i < value.size(); ++i)
    list.push_back(read(value[i], fmt::format("{}[{}]", path, i)));
  return list;
}

// Appends the numbers of a list that may be nested, in depth-first order.
void flatten(const json& value, const std::string& path, std::vector<float>& numbers) {
  if (is_empty_text(value)) return;
  if (!value.is_array()) {
    numbers.push_back(number_in(value, path));
    return;
  }
  for (size_t i = 0; i < value.size(); ++i)
    flatten(value[i], fmt::format("{}[{}]", path, i), numbers);
}

json object_in(const json& value, const std::string& path) {
  if (is_empty_text(value)) return json::object();
  if (!value.is_object()) refuse(path, value, "an object");
  return value;
}

}  // namespace

JsonConfig::JsonConfig() : JsonConfig(json::object(), {}) {}

JsonConfig::JsonConfig(json value, std::string path)
    : value_(std::make_shared<const json>(std::move(value))), path_(std::move(path)) {}

JsonConfig JsonConfig::parse(const std::string& text) {
  const DefaultFloatEnvironment floats;
  if (trimmed(text).empty()) return {};
  json value;
  try {
    value = json::parse(text, refuse_depth);
  } catch (const json::exception& error) {
    throw std::invalid_argument(
        fmt::format("the configuration is not valid JSON: {}", error.what()));
  }
  if (!value.is_object()) throw std::invalid_argument("the configuration must be a JSON object");
  return {std::move(value), {}};
}

const json* JsonConfig::find(const std::string& key) const {
  const auto found = value_->find(key);
  return found == value_->end() || is_missing(*found) ? nullptr : &*found;
}

std::string JsonConfig::path_of(const std::string& key) const {
  return path_ + key;
}

bool JsonConfig::has(const std::string& key) const {
  return find(key) != nullptr;
}

std::vector<std::string> JsonConfig::keys() const {
  std::vector<std::string> names;
  for (const auto& item : value_->items()) names.push_back(item.key());
  return names;
}

float JsonConfig::number(const std::string& key, float fallback) const {
  const json* value = find(key);
  return value == nullptr ? fallback : number_in(*value, path_of(key));
}

int64_t JsonConfig::integer(const std::string& key, int64_t fallback) const {
  const json* value = find(key);
  return value == nullptr ? fallback : integer_in(*value, path_of(key));
}

bool JsonConfig::boolean(const std::string& key, bool fallback) const {
  const json* value = find(key);
  return value == nullptr ? fallback : boolean_in(*value, path_of(key));
}

std::string JsonConfig::text(const std::string& key, const std::string& fallback) const {
  const json* value = find(key);
  return value == nullptr ? fallback : string_in(*value, path_of(key));
}

void JsonConfig::refuse_name(const std::string& key, const std::string& given,
                             const std::string& known) const {
  throw std::invalid_argument(
      fmt::format("\"{}\": \"{}\" is none of{}", path_of(key), given, known));
}

std::vector<float> JsonConfig::numbers(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return {};
  return list_in(*value, path_of(key), number_in);
}

std::vector<int64_t> JsonConfig::integers(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return {};
  return list_in(*value, path_of(key), integer_in);
}

std::vector<std::string> JsonConfig::texts(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return {};
  return list_in(*value, path_of(key), string_in);
}

std::vector<std::vector<float>> JsonConfig::number_rows(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return {};
  const auto row = [](const json& element, const std::string& path) {
    return list_in(element, path, number_in);
  };
  const bool plain = value->is_array() && !value->empty() && !value->front().is_array();
  if (plain) return {row(*value, path_of(key))};
  return list_in(*value, path_of(key), row);
}

std::vector<float> JsonConfig::flattened_numbers(const std::string& key) const {
  std::vector<float> numbers;
  if (const json* value = find(key)) flatten(*value, path_of(key), numbers);
  return numbers;
}

JsonConfig JsonConfig::object(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return {};
  return {object_in(*value, path_of(key)), path_of(key) + "."};
}

std::vector<JsonConfig> JsonConfig::objects(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return {};
  return list_in(*value, path_of(key), [](const json& element, const std::string& path) {
    return JsonConfig(object_in(element, path), path + ".");
  });
}

}  // namespace millrace::vartx
