// Which file a descriptor refers to. Programs may close all descriptors, those of libraries, too,
// and open files of their own under the same numbers. Who keeps a descriptor therefore remembers
// its file, and compares before it writes.
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
  bool known = false;  // none where there was no file to look at

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

// A descriptor that is kept. Thread-safe.
class KnownFile {
 public:
  explicit KnownFile(UniqueFd file) noexcept
      : file_(std::move(file)), identity_(identity_of(file_.get())) {}

  // A duplicate, for one write; none where the number refers to another file by now, or the process
  // has no descriptor left. It is examined itself, so that no other thread can change in between
  // what it refers to.
  UniqueFd borrow() const noexcept {
    UniqueFd copy(::fcntl(file_.get(), F_DUPFD_CLOEXEC, kLowestOwnDescriptor));
    return copy && identity_of(copy.get()) == identity_ ? std::move(copy) : UniqueFd();
  }

 private:
  UniqueFd file_;
  FileIdentity identity_;
};

}  // namespace millrace
