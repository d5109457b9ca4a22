// MappedFile: a whole regular file, mapped read-only.
//
// The mapping shows every change of the file: a process that writes into the file changes what is
// read here, and one that shortens it makes reads beyond the new end fail with SIGBUS. Replace
// files by rename, as archive_writer.h does; never overwrite them.
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

// Gives memory back to the system that whole pages of `bytes` take, where they are those of a
// MappedFile of this process; who reads them later gets them from the file again. Other memory
// stays as it is. Thread-safe; `bytes` are valid.
void release_pages(std::span<const std::byte> bytes) noexcept;

}  // namespace millrace::model
