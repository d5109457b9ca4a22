// The file behind the option config_json: JSON that a compiler was configured with, in which runner
// options may stand too.
//
// Options are looked for at the top and in objects called "runner-options", however deep those lie
// in other objects; lists are passed over. Keys are those of the option map, with '-' or '_'.
#pragma once

#include <any>
#include <cstddef>
#include <string>
#include <vector>

namespace millrace::vartml {

struct ConfigEntry {
  std::string key;  // as an option is called, with '_'
  std::any value;   // bool, int64_t, uint64_t, double or std::string
  size_t line = 0;  // from 1, of the key
};

// In the order of the file, without what is null, a list, or an object. Throws std::runtime_error
// when the file cannot be read or is not a JSON object, naming file and line.
std::vector<ConfigEntry> read_config_file(const std::string& path);

}  // namespace millrace::vartml
