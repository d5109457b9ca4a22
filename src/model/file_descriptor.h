// FileDescriptor: owns an open file; closes it.
#pragma once

#include <unistd.h>

#include <utility>

namespace millrace::model {

class FileDescriptor {
 public:
  // Takes over `fd`; negative is none.
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool valid() const noexcept { return fd_ >= 0; }
  int get() const noexcept { return fd_; }
  // The caller closes it.
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace millrace::model
