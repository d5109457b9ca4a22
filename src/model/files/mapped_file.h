// MappedFile: a whole regular file, mapped read-only. Immutable and thread-safe.
//
// The mapping reflects later changes of the file: if a process writes to it, the bytes here change,
// and if a process truncates it, reading beyond the new end raises SIGBUS. Replace files by rename,
// as archive_writer.h does; never overwrite them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"

namespace millrace::model {

class MappedFile {
 public:
  // kNotFound or kIoError; kInvalidArgument when `path` is not a regular file. Never blocks on a
  // pipe. An empty file gives empty bytes.
  static Result<MappedFile> open(const std::string& path);
  // Does the same for a file that only the user and root can change (base/files/trusted_file.h);
  // kUnsupported for any other. The caller has to check its folder.
  static Result<MappedFile> open_trusted(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  static Result<MappedFile> map(const std::string& path, bool trusted);
  explicit MappedFile(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

// Returns the physical memory of the whole pages within `bytes` to the system, if they belong to a
// MappedFile of this process. A later access reads them from the file again. Does nothing for other
// memory. Thread-safe. Requirement: `bytes` is valid memory.
void release_pages(std::span<const std::byte> bytes) noexcept;

}  // namespace millrace::model
