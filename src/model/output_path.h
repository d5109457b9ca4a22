// The temporary name under which an archive is written before it gets its final one.
#pragma once

#include <span>
#include <string>

#include "base/status.h"

namespace millrace::model {

// An unused name beside `path`, under which a file or a directory can be created. What was created
// under it is removed on destruction, unless commit_file() or commit_directory() gave it its final
// name.
class TemporaryOutput {
 public:
  // `path` names a file or directory, not necessarily one that exists; not empty.
  explicit TemporaryOutput(const std::string& path);
  TemporaryOutput(const TemporaryOutput&) = delete;
  TemporaryOutput& operator=(const TemporaryOutput&) = delete;
  ~TemporaryOutput();

  const std::string& name() const noexcept { return name_; }
  // To be called once a file or directory of ours has the name.
  void mark_created() noexcept { created_ = true; }

  // Gives a finished file its final name; replaces a file that has it.
  Status commit_file();
  // Gives a finished directory its final name; replaces a directory that has it. The replacement is
  // atomic where the file system can exchange two names. Elsewhere the old directory is moved aside
  // first, and moved back on failure.
  Status commit_directory();

 private:
  std::string target_;
  std::string name_;
  bool created_ = false;
};

// Whether the file form may be written to `path`: nothing there, or a regular file.
Status check_file_target(const std::string& path);
// Whether the directory form may be written to `path`: nothing there, an empty directory, or one
// that holds an archive in directory form and nothing else.
Status check_directory_target(const std::string& path);

// Whether a part of the directory form may be written to `path`: nothing there, or such a directory
// that holds the files of an archive and nothing else.
Status check_part_target(const std::string& path);

// Removes the parts and the connectivity file of an archive from `directory`, except those named in
// `kept`. Failures to remove are ignored.
void remove_parts_except(const std::string& directory, std::span<const std::string> kept);

}  // namespace millrace::model
