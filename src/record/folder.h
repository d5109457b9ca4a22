// Folder: the files of a record. `record.jsonl` has a line of JSON for each event; archives are in
// `models` and tensors in `tensors`, each content once, under its checksum as the name.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::record {

using Json = nlohmann::ordered_json;

class Folder {
 public:
  Folder() = default;
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // Creates the folder, as far as it is missing, for at most `limit_bytes`. kIoError, also if it
  // has a record already. Not thread-safe.
  Status create(const std::string& path, uint64_t limit_bytes);

  // Keeps the bytes, unless a file has them already, and returns the path of their file within the
  // folder. kResourceExhausted if the limit would be exceeded, kIoError. `group` is "models" or
  // "tensors".
  Result<std::string> keep(std::string_view group, std::span<const std::byte> bytes);
  // Appends a line. kResourceExhausted if the limit would be exceeded, kIoError.
  Status append(const Json& line);
  // Appends the last line, whatever the limit is.
  Status append_last(const Json& line);

 private:
  Status reserve(uint64_t bytes);
  Status write_line(const Json& line, bool limited);

  std::string path_;
  UniqueFd lines_;
  std::mutex mutex_;                      // guards what follows, and orders the lines
  std::unordered_set<std::string> kept_;  // whole files
  uint64_t begun_files_ = 0;
  off_t lines_bytes_ = 0;  // of whole lines
  uint64_t left_bytes_ = 0, limit_bytes_ = 0;
};

}  // namespace millrace::record
