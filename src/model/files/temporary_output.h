// Outputs that get their name when they are complete, and replace what has it in one step. An
// object belongs to one thread at a time.
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

// A file that no folder lists until commit(), where the file system can make one: then nothing is
// left however the process ends. Elsewhere it has a temporary name, and is removed with the object.
class TemporaryFile {
 public:
  // `path` names the future file, which may exist already; not empty. kInvalidArgument where
  // something other than a file has the name (base/files/output_target.h); kNotFound or kIoError.
  // Messages do not contain the path.
  static Result<TemporaryFile> create(const std::string& path);

  // Writes the bytes that `emit` passes to its sink.
  Status fill(const std::function<Status(const Sink&)>& emit);
  // Gives the file its final name; replaces a file that has it.
  Status commit();

 private:
  std::string target_;
  UniqueFd file_;
  TemporaryName name_;  // none while no folder lists the file
};

// A directory of a temporary name, which is removed with the object and all that it holds.
class TemporaryDirectory {
 public:
  // Like create() of a file.
  static Result<TemporaryDirectory> create(const std::string& path);

  const std::string& name() const noexcept { return name_.text(); }
  // Gives the directory its final name; replaces a directory that has it. The replacement is atomic
  // where the file system can exchange two names. Elsewhere the old directory is moved aside first,
  // and moved back on failure.
  Status commit();

 private:
  std::string target_;
  UniqueFd directory_;  // holds the lock
  TemporaryName name_;
};

// Writes a whole file, or replaces the one that has the name, without ever leaving an incomplete
// one; writes through FIFOs, terminals and character devices (base/files/output_target.h).
// kInvalidArgument where nothing may be written there; kNotFound or kIoError.
Status write_whole_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace millrace::model
