// UniqueFd: owns an open file descriptor and closes it in the destructor. Closing is no
// cancellation point.
#pragma once

#include <unistd.h>

#include <utility>

#include "base/cancellation.h"

namespace millrace {

class UniqueFd {
 public:
  UniqueFd() noexcept = default;
  // Takes ownership of `fd`; a negative number means none.
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() {
    if (fd_ < 0) return;
    const CancellationOff whole;
    ::close(fd_);
  }

  int get() const noexcept { return fd_; }
  // Gives up ownership: the caller must close the descriptor.
  int release() noexcept { return std::exchange(fd_, -1); }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace millrace
