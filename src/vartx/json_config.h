// JsonConfig: a lenient reader of the JSON configuration texts that programs pass to VART-X.
//
// Programs often pass the text through a boost property tree, which turns every number and boolean
// into a string, and an empty list or object into "". So each value may have either form; null,
// "null" and blank strings count as missing. Unknown keys are ignored.
//
// Every function throws std::invalid_argument, which names key and value, for a value of a wrong
// type. Immutable and thread-safe.
#pragma once

#include <boost/algorithm/string/predicate.hpp>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::vartx {

class JsonConfig {
 public:
  // An empty object, in which every key is missing.
  JsonConfig();
  // Parses JSON text whose top-level value is an object; blank text is an empty object. Throws
  // std::invalid_argument, which says what is wrong and where.
  static JsonConfig parse(const std::string& text);

  bool has(const std::string& key) const;
  // Returns all keys, also those whose value counts as missing.
  std::vector<std::string> keys() const;

  // These return the value of `key`, or the fallback if it is missing.
  float number(const std::string& key, float fallback) const;  // must be finite
  int64_t integer(const std::string& key, int64_t fallback) const;
  bool boolean(const std::string& key, bool fallback) const;  // may be 0 or 1
  std::string text(const std::string& key, const std::string& fallback) const;
  // Returns the value whose name is the text of `key`. Upper and lower case are equivalent.
  template <class Value>
  Value named(const std::string& key, Value fallback,
              std::initializer_list<std::pair<std::string_view, Value>> names) const {
    const std::string given = text(key, "");
    if (given.empty()) return fallback;
    std::string known;
    for (const auto& [name, value] : names) {
      if (boost::algorithm::iequals(given, name)) return value;
      known.append(" ").append(name);
    }
    refuse_name(key, given, known);
  }

  // These return the elements of the list `key`; an empty list if it is missing. A single value
  // counts as a list of one element.
  std::vector<float> numbers(const std::string& key) const;
  std::vector<int64_t> integers(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;
  // Returns a list of lists, such as [[80, 80], [40, 40]]. A flat list counts as a single row.
  std::vector<std::vector<float>> number_rows(const std::string& key) const;

  // Returns the numbers of a list that may be nested to any depth, in their order.
  std::vector<float> flattened_numbers(const std::string& key) const;

  // Returns the object `key`; an empty one if it is missing.
  JsonConfig object(const std::string& key) const;
  // Returns the objects of the list `key`; an empty list if it is missing.
  std::vector<JsonConfig> objects(const std::string& key) const;

 private:
  JsonConfig(nlohmann::json value, std::string path);
  [[noreturn]] void refuse_name(const std::string& key, const std::string& given,
                                const std::string& known) const;
  const nlohmann::json* find(const std::string& key) const;
  std::string path_of(const std::string& key) const;

  std::shared_ptr<const nlohmann::json> value_;
  std::string path_;  // the keys that lead to this object, each followed by a dot, for messages
};

}  // namespace millrace::vartx
