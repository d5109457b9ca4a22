// EventFd: an eventfd of the test's own.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

#include "base/unique_fd.h"
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {

class EventFd {
 public:
  EventFd() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  int get() const { return fd_.get(); }
  void close() { fd_ = UniqueFd(); }

  // Returns when it is readable; false when it never is.
  bool await() const {
    pollfd readable{get(), POLLIN, 0};
    const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(kPatience);
    return ::poll(&readable, 1, static_cast<int>(patience.count())) == 1;
  }
  // Returns what was added since the last call.
  uint64_t take() {
    uint64_t value = 0;
    return ::read(get(), &value, sizeof value) == sizeof value ? value : 0;
  }

 private:
  UniqueFd fd_;
};

}  // namespace millrace::conformance
