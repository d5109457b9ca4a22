// JSON configurations through Boost's property tree, which keeps every value as text: 3 and "3",
// true and "true" read the same. All functions throw std::runtime_error.
#pragma once

#include <boost/property_tree/ptree.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace samples {

using Json = boost::property_tree::ptree;

// The message names the file, and the line where it is no JSON.
Json read_json(const std::string& path);
// Every value becomes a string, and an empty object or array the string "".
std::string json_text(const Json& json);
void write_json(const std::string& path, const Json& json);

// The value of a key; nothing where the key is not there. A key is taken as it is: a '.' in it is a
// part of the name. The message names the key and what it takes.
std::optional<std::string> text_value(const Json& object, const std::string& key);
std::optional<bool> bool_value(const Json& object, const std::string& key);
std::optional<int64_t> integer_value(const Json& object, const std::string& key, int64_t lowest,
                                     int64_t highest);
std::optional<float> number_value(const Json& object, const std::string& key);  // finite
// The elements of a list; empty if the key is not there.
std::vector<float> number_list(const Json& object, const std::string& key);

// The same for a key that has to be there.
std::string required_text(const Json& object, const std::string& key);

// The object or array behind a key; an empty one where the key is not there.
const Json& child_of(const Json& object, std::string_view key);

}  // namespace samples
