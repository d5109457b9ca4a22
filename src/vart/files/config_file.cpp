// Reads the JSON text with the SAX parser of nlohmann::json, which is the way to know the line of
// each key for messages.
#include "vart/files/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "model/files/mapped_file.h"

namespace millrace::vartml {
namespace {

constexpr std::string_view kOptionsObject = "runner_options";

// An input iterator that stores its position in a variable outside of itself, so that the position
// can be read while the parser works on a copy of the iterator.
class TrackingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  const char& operator*() const { return *at_; }
  TrackingIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  bool operator==(const TrackingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const TrackingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

// Returns the option name of a key. The part after a dot is the name of a tensor and is not
// changed.
std::string option_key(std::string key) {
  std::replace(key.begin(), std::find(key.begin(), key.end(), '.'), '-', '_');
  return key;
}

// A SAX handler that collects entries while nlohmann::json parses the text. The SAX interface of
// that library prescribes the names and results of the public functions after read(); they return
// true to continue.
class ConfigReader {
 public:
  using Json = nlohmann::json;

  ConfigReader(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  std::vector<ConfigEntry> read() {
    const char* const end = text_.data() + text_.size();
    Json::sax_parse(TrackingIterator(text_.data(), &at_), TrackingIterator(end, &at_), this);
    return std::move(entries_);
  }

  bool null() { return scalar(std::any()); }
  bool boolean(bool value) { return scalar(value); }
  bool number_integer(int64_t value) { return scalar(value); }
  bool number_unsigned(uint64_t value) { return scalar(value); }
  bool number_float(double value, const std::string&) { return scalar(value); }
  bool string(std::string& value) { return scalar(std::move(value)); }
  bool binary(Json::binary_t&) { return true; }

  bool start_object(size_t) {
    // Options are in the top-level object and in those called "runner-options" outside of lists.
    const bool options = scopes_.empty() || at_options();
    scopes_.push_back({.in_list = in_list(), .options = options});
    return true;
  }
  bool end_object() { return leave(); }
  bool start_array(size_t) {
    if (scopes_.empty()) refuse("a configuration is a JSON object, not a list");
    if (at_options()) refuse("\"runner-options\" takes an object, not a list");
    scopes_.push_back({.in_list = true, .options = false});
    return true;
  }
  bool end_array() { return leave(); }
  bool key(std::string& name) {
    key_ = option_key(std::move(name));
    key_line_ = line();
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) {
    // Removes the prefix of the library's message, which is the exception's name and a position.
    const std::string_view text = error.what();
    const size_t position = text.find(": "), name = text.find("] ");
    refuse(text.substr((position != text.npos ? position : name) + 2));
  }

 private:
  struct Scope {
    bool in_list;
    bool options;  // an object whose members are options
  };

  bool in_list() const { return !scopes_.empty() && scopes_.back().in_list; }
  // True if the next value belongs to the key "runner-options" and is not within a list.
  bool at_options() const { return !in_list() && key_ == kOptionsObject; }
  bool leave() {
    scopes_.pop_back();
    return true;
  }
  bool scalar(std::any value) {
    if (scopes_.empty()) refuse("a configuration is a JSON object, not a single value");
    if (value.has_value() && at_options())
      refuse("\"runner-options\" takes an object, not a single value");
    if (value.has_value() && scopes_.back().options)
      entries_.push_back({key_, std::move(value), key_line_});
    return true;
  }
  // Returns the line of the last character that the parser has consumed.
  size_t line() {
    const char* const last = at_ == text_.data() ? at_ : at_ - 1;
    line_ += std::count(counted_, last, '\n');
    counted_ = last;
    return line_;
  }
  [[noreturn]] void refuse(std::string_view reason) {
    throw std::runtime_error(fmt::format("config_json: {}:{}: {}", path_, line(), reason));
  }

  const std::string& path_;
  const std::string_view text_;
  const char* at_ = text_.data();  // the next character that the parser reads
  size_t line_ = 1;                // the line of `counted_`
  const char* counted_ = text_.data();
  std::vector<Scope> scopes_;
  std::string key_;
  size_t key_line_ = 0;
  std::vector<ConfigEntry> entries_;
};

}  // namespace

std::vector<ConfigEntry> read_config_file(const std::string& path) {
  const Result<model::MappedFile> file = model::MappedFile::open(path);
  if (!file.ok())
    throw std::runtime_error(fmt::format("config_json: {}: {}", path, file.status().message()));
  const std::span<const std::byte> bytes = file->bytes();
  return ConfigReader(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}).read();
}

}  // namespace millrace::vartml
