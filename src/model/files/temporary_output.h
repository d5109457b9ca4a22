// Atomic outputs: files and directories that get their final name only when they are complete, and
// then replace an existing file or directory of that name. An object may be used by one thread at a
// time.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "model/files/output_file.h"
#include "model/files/temporary_name.h"

namespace millrace::model {

// A file that has no name until commit() (O_TMPFILE) if the file system supports that: then nothing
// is left however the process ends. Otherwise it has a temporary name, and the destructor removes
// it.
class TemporaryFile {
 public:
  // `path` is the final path, where a file may exist already. kInvalidArgument if there is
  // something other than a file (base/files/output_target.h); kNotFound or kIoError. Messages do
  // not contain the path. Requirement: `path` is not empty.
  static Result<TemporaryFile> create(const std::string& path);

  // Writes the bytes that `emit` passes to its sink.
  Status fill(const std::function<Status(const Sink&)>& emit);
  // Gives the file its final name, and atomically replaces an existing file.
  Status commit();

 private:
  std::string target_;
  UniqueFd file_;
  TemporaryName name_;  // empty while the file has no name
};

// A directory with a temporary name. The destructor removes it with its contents.
class TemporaryDirectory {
 public:
  // Like TemporaryFile::create(), for a directory.
  static Result<TemporaryDirectory> create(const std::string& path);

  const std::string& name() const noexcept { return name_.text(); }
  // Gives the directory its final name, and replaces an existing directory. The replacement is
  // atomic if the file system can exchange two names. Otherwise the old directory is moved aside
  // first, and moved back on failure.
  Status commit();

 private:
  std::string target_;
  UniqueFd directory_;  // holds the lock
  TemporaryName name_;
};

// Writes a whole file or atomically replaces an existing one; writes directly to FIFOs, terminals
// and character devices (base/files/output_target.h). kInvalidArgument if the path must not be
// written to; kNotFound or kIoError.
Status write_whole_file(const std::string& path, std::span<const std::byte> bytes);
// Does the same with the bytes that `emit` passes to its sink, so that they need not be in memory
// at one time.
Status write_whole_file(const std::string& path, const std::function<Status(const Sink&)>& emit);

}  // namespace millrace::model
