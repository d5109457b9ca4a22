// Poller: the epoll instance on which the service's thread waits for its sockets, with an eventfd
// by which other threads wake it.
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

  // Changes the event for which `fd` is watched from `before` to `now`. With kNothing it is removed
  // from the epoll set, which would otherwise continue to report that the peer is gone. This must
  // be done before the descriptor is closed: epoll keeps an open file for as long as a forked child
  // has it open, too. kIoError when epoll_ctl fails.
  Status watch(int fd, Interest before, Interest now) noexcept;

  // Blocks until descriptors are ready, wake() is called or the time `most` has passed. The span is
  // valid until the next call.
  std::span<const epoll_event> wait(std::optional<std::chrono::milliseconds> most) noexcept;

  // Ends the present wait(), or else the next one. Thread-safe.
  void wake() const noexcept;

 private:
  Poller(UniqueFd epoll, UniqueFd wakes) noexcept
      : epoll_(std::move(epoll)), wakes_(std::move(wakes)) {}

  UniqueFd epoll_;
  UniqueFd wakes_;  // an eventfd
  std::array<epoll_event, 64> events_{};
};

}  // namespace millrace::nrt::sendrecv
