// Poller: the descriptors for which one thread waits (epoll), and how other threads wake it.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::nrt::sendrecv {

// The event for which a descriptor is watched.
enum class Interest : uint8_t { kNothing, kReadable, kWritable };

class Poller {
 public:
  static Result<Poller> make();

  // Watches `fd` for `now` instead of `before` from here on. With kNothing it is not looked at in
  // any way: the system would report that its peer is gone again and again. That comes before a
  // descriptor is closed, since a forked child may have it, too. kIoError when the system refuses.
  Status watch(int fd, Interest before, Interest now) noexcept;

  // Waits until descriptors are ready, wake() was called or the time is over. Valid until the next
  // call.
  std::span<const epoll_event> wait(std::optional<std::chrono::milliseconds> most) noexcept;

  // Ends the wait of now, or the next one. Any thread.
  void wake() const noexcept;

 private:
  Poller(UniqueFd epoll, UniqueFd wakes) noexcept
      : epoll_(std::move(epoll)), wakes_(std::move(wakes)) {}

  UniqueFd epoll_;
  UniqueFd wakes_;  // an eventfd
  std::array<epoll_event, 64> events_{};
};

}  // namespace millrace::nrt::sendrecv
