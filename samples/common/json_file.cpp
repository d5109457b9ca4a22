#include "common/json_file.hpp"

// The parser of Boost 1.74 uses these names, and every compiler reports that they are deprecated.
#define BOOST_BIND_GLOBAL_PLACEHOLDERS
#include <boost/property_tree/json_parser.hpp>
#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "common/output_file.hpp"

namespace samples {
namespace {

[[noreturn]] void refuse(const std::string& key, const std::string& takes,
                         const std::string& value) {
  throw std::runtime_error("\"" + key + "\" takes " + takes + ", not \"" + value + "\"");
}

float number_of(const std::string& key, const std::string& text) {
  float value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) refuse(key, "a number", text);
  return value;
}

}  // namespace

Json read_json(const std::string& path) {
  Json json;
  try {
    boost::property_tree::read_json(path, json);
  } catch (const boost::property_tree::json_parser_error& error) {
    throw std::runtime_error("cannot read the configuration " + std::string(error.what()));
  }
  return json;
}

std::string json_text(const Json& json) {
  std::ostringstream text;
  boost::property_tree::write_json(text, json);
  return text.str();
}

void write_json(const std::string& path, const Json& json) {
  OutputFile file(path);
  file.stream() << json_text(json);
  file.commit();
}

std::optional<std::string> text_value(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.not_found()) return std::nullopt;
  if (!found->second.empty()) refuse(key, "one value", "an object or array");
  return found->second.data();
}

std::optional<bool> bool_value(const Json& object, const std::string& key) {
  const std::optional<std::string> text = text_value(object, key);
  if (!text) return std::nullopt;
  if (*text == "true" || *text == "1") return true;
  if (*text == "false" || *text == "0") return false;
  refuse(key, "true or false", *text);
}

std::optional<int64_t> integer_value(const Json& object, const std::string& key, int64_t lowest,
                                     int64_t highest) {
  const std::optional<std::string> text = text_value(object, key);
  if (!text) return std::nullopt;
  int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || value < lowest || value > highest)
    refuse(key, "an integer from " + std::to_string(lowest) + " to " + std::to_string(highest),
           *text);
  return value;
}

std::optional<float> number_value(const Json& object, const std::string& key) {
  const std::optional<std::string> text = text_value(object, key);
  if (!text) return std::nullopt;
  return number_of(key, *text);
}

std::vector<float> number_list(const Json& object, const std::string& key) {
  std::vector<float> numbers;
  for (const auto& [name, element] : child_of(object, key))
    numbers.push_back(number_of(key, element.data()));
  return numbers;
}

std::string required_text(const Json& object, const std::string& key) {
  const std::optional<std::string> text = text_value(object, key);
  if (!text || text->empty()) throw std::runtime_error("the configuration has no \"" + key + "\"");
  return *text;
}

const Json& child_of(const Json& object, std::string_view key) {
  static const Json kEmpty;
  const auto found = object.find(std::string(key));
  return found == object.not_found() ? kEmpty : found->second;
}

}  // namespace samples
