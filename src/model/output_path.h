// Where an archive is written before it takes its final name.
#pragma once

#include <string>

#include "base/status.h"

namespace millrace::model {

// A name beside `path` that nothing has yet. On destruction whatever has that name, a file or a
// directory, is removed unless commit() gave it its final name.
class TemporaryOutput {
 public:
  // `path` names a file or directory, not necessarily one that exists; not empty.
  explicit TemporaryOutput(const std::string& path);
  TemporaryOutput(const TemporaryOutput&) = delete;
  TemporaryOutput& operator=(const TemporaryOutput&) = delete;
  ~TemporaryOutput();

  const std::string& name() const noexcept { return name_; }

  // Gives a finished file its final name, in place of a file that has it.
  Status commit_file();
  // Gives a finished directory its final name. A directory that has it is moved aside first, and
  // moved back when that fails.
  Status commit_directory();

 private:
  std::string target_;
  std::string name_;
};

// Whether the file form may be written to `path`: nothing there, or a regular file.
Status check_file_target(const std::string& path);
// Whether the directory form may be written to `path`: nothing there, an empty directory, or one
// that holds an archive in directory form and nothing else.
Status check_directory_target(const std::string& path);

}  // namespace millrace::model
