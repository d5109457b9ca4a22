// An eventfd of a test, and what was added to it.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace millrace::test {

class EventFd {
 public:
  EventFd() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~EventFd() { ::close(fd_); }
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;

  int fd() const { return fd_; }
  // Waits until something was added, and takes it.
  uint64_t await() const {
    pollfd wanted{fd_, POLLIN, 0};
    while (::poll(&wanted, 1, -1) < 1) {
    }
    return take();
  }
  // Returns what was added since the last time; 0 if nothing was.
  uint64_t take() const {
    uint64_t value = 0;
    return ::read(fd_, &value, sizeof(value)) == sizeof(value) ? value : 0;
  }

 private:
  const int fd_;
};

}  // namespace millrace::test
