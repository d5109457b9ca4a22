// An eventfd as a program makes it.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/unique_fd.h"

namespace millrace::test {

inline bool is_readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 0) == 1 && (one.revents & POLLIN) != 0;
}

// Returns when there is something to read.
inline void await_readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  while (::poll(&one, 1, -1) != 1) {
  }
}

class EventFd {
 public:
  explicit EventFd(int flags = EFD_NONBLOCK, unsigned value = 0) : fd_(eventfd(value, flags)) {}

  int get() const { return fd_.get(); }
  void close() { fd_ = UniqueFd(); }
  // The counter, which is 0 then.
  uint64_t take() {
    uint64_t count = 0;
    return is_readable(get()) && ::read(get(), &count, sizeof count) == sizeof count ? count : 0;
  }
  // Waits for the first completion, and takes all that have happened.
  uint64_t await() {
    await_readable(get());
    return take();
  }

 private:
  UniqueFd fd_;
};

}  // namespace millrace::test
