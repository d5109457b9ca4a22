// KnownFile: a descriptor together with the identity of its file. A program may close all
// descriptors, including those of libraries, and its own files may then get the same numbers. Code
// that keeps a descriptor therefore compares the file before each write.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <utility>

#include "base/files/own_descriptor.h"
#include "base/unique_fd.h"

namespace millrace {

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  bool known = false;  // false if there was no file to examine

  bool operator==(const FileIdentity&) const = default;
  bool is(const struct stat& info) const noexcept {
    return known && info.st_dev == device && info.st_ino == inode;
  }
};

inline FileIdentity identity_of(int fd) noexcept {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return {};
  return {.device = info.st_dev, .inode = info.st_ino, .known = true};
}

// Keeps a descriptor together with the identity of its file. Thread-safe.
class KnownFile {
 public:
  explicit KnownFile(UniqueFd file) noexcept
      : file_(std::move(file)), identity_(identity_of(file_.get())) {}

  // Returns a duplicate for one write. It is empty if the number now refers to another file, or the
  // process has no free descriptor. The check is made on the duplicate, so that no other thread can
  // change what it refers to between check and write.
  UniqueFd borrow() const noexcept {
    UniqueFd copy(::fcntl(file_.get(), F_DUPFD_CLOEXEC, kLowestOwnDescriptor));
    return copy && identity_of(copy.get()) == identity_ ? std::move(copy) : UniqueFd();
  }

 private:
  UniqueFd file_;
  FileIdentity identity_;
};

}  // namespace millrace
