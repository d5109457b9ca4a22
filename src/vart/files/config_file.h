// Reads the file that the option config_json names: the JSON configuration of the board's compiler,
// which may also contain runner options.
//
// Options are the members of the top-level object and of objects called "runner-options", at any
// depth within other objects; lists are skipped. Keys are those of the option map, with '-' or '_'.
#pragma once

#include <any>
#include <cstddef>
#include <string>
#include <vector>

namespace millrace::vartml {

struct ConfigEntry {
  std::string key;  // the name of the option, with '_'
  std::any value;   // bool, int64_t, uint64_t, double or std::string
  size_t line = 0;  // the line of the key, from 1
};

// Returns the entries in the order of the file; values that are null, lists or objects are skipped.
// Throws std::runtime_error, which names file and line, when the file cannot be read or is not a
// JSON object.
std::vector<ConfigEntry> read_config_file(const std::string& path);

}  // namespace millrace::vartml
