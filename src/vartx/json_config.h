// JsonConfig: the configuration text that programs give to functions of VART-X, read leniently.
//
// Programs pass what they read through a property tree, which turns every number and switch into a
// string, and an empty list or object into "". So values are taken in either form; null and blank
// text count as missing. Keys that nobody asks for are ignored.
//
// Every function throws std::invalid_argument, naming key and value, for a value of a wrong type.
// Immutable, and thread-safe.
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
  // Parses JSON text whose top is an object; text without any character but blanks is an empty
  // object. std::invalid_argument says what is wrong, and where.
  static JsonConfig parse(const std::string& text);

  bool has(const std::string& key) const;

  // The value of `key`, or the fallback where it is missing.
  float number(const std::string& key, float fallback) const;  // finite
  int64_t integer(const std::string& key, int64_t fallback) const;
  bool boolean(const std::string& key, bool fallback) const;  // also 0 and 1
  std::string text(const std::string& key, const std::string& fallback) const;
  // The value whose name is the text of `key`, in upper or lower case.
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

  // The elements of the list `key`; empty where it is missing. A single value counts as a list of
  // one.
  std::vector<float> numbers(const std::string& key) const;
  std::vector<int64_t> integers(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;
  // A list of lists, such as [[80, 80], [40, 40]]. A plain list counts as a single row.
  std::vector<std::vector<float>> number_rows(const std::string& key) const;

  // The numbers of a list, of its lists, of theirs, and so on, in their order.
  std::vector<float> flattened_numbers(const std::string& key) const;

  // The object `key`; an empty one where it is missing.
  JsonConfig object(const std::string& key) const;
  // The objects of the list `key`; empty where it is missing.
  std::vector<JsonConfig> objects(const std::string& key) const;

 private:
  JsonConfig(nlohmann::json value, std::string path);
  [[noreturn]] void refuse_name(const std::string& key, const std::string& given,
                                const std::string& known) const;
  const nlohmann::json* find(const std::string& key) const;
  std::string path_of(const std::string& key) const;

  std::shared_ptr<const nlohmann::json> value_;
  std::string path_;  // of this object within the text: empty at the top, else it ends in a dot
};

}  // namespace millrace::vartx
