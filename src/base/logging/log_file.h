// LogFile: a file to which lines are appended, and which is replaced by a new one when it is large.
//
// It is not a sink of a library for logs, since those write to a descriptor by its number: a
// program that has closed all descriptors would find lines of the log in its own files
// (files/known_file.h).
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/files/known_file.h"
#include "base/status.h"

namespace millrace {

// Not thread-safe: the log writes one line at a time. Several processes may write to one path.
class LogFile {
 public:
  static constexpr off_t kMostBytes = off_t{10} << 20;

  // Opens or creates a regular file. Symbolic links at its end are followed as output_target()
  // does. Errors do not contain the path.
  static Result<std::unique_ptr<LogFile>> open(const std::string& path,
                                               off_t most_bytes = kMostBytes);

  // Appends the line by one system call. Before that, a file that would become larger than the
  // limit is renamed, with ".1" at the end of its name, where it replaces an older one. A line that
  // cannot be written is lost.
  void write(std::string_view line) noexcept;

 private:
  LogFile(std::string path, off_t most_bytes) : path_(std::move(path)), most_bytes_(most_bytes) {}
  Status reopen();
  UniqueFd borrow() const noexcept;  // as KnownFile does
  bool is_full(int fd, size_t more) const noexcept;
  void rotate(int fd);  // fd: of the file

  const std::string path_;
  const off_t most_bytes_;
  UniqueFd file_;
  FileIdentity identity_;
};

}  // namespace millrace
