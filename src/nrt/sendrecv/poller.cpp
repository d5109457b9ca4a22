#include "nrt/sendrecv/poller.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/cancellation.h"
#include "base/files/own_descriptor.h"

namespace millrace::nrt::sendrecv {
namespace {

constexpr uint32_t events_of(Interest interest) noexcept {
  return interest == Interest::kReadable ? EPOLLIN : EPOLLOUT;
}

}  // namespace

Result<Poller> Poller::make() {
  UniqueFd epoll = own_descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return io_error("epoll_create1", errno);
  UniqueFd wakes = own_descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wakes) return io_error("eventfd", errno);
  Poller poller(std::move(epoll), std::move(wakes));
  MILLRACE_RETURN_IF_ERROR(
      poller.watch(poller.wakes_.get(), Interest::kNothing, Interest::kReadable));
  return poller;
}

Status Poller::watch(int fd, Interest before, Interest now) noexcept {
  if (before == now) return {};
  epoll_event event{};
  event.events = events_of(now);
  event.data.fd = fd;
  const int change = now == Interest::kNothing      ? EPOLL_CTL_DEL
                     : before == Interest::kNothing ? EPOLL_CTL_ADD
                                                    : EPOLL_CTL_MOD;
  return ::epoll_ctl(epoll_.get(), change, fd, &event) == 0 ? Status() : io_error("epoll", errno);
}

std::span<const epoll_event> Poller::wait(std::optional<std::chrono::milliseconds> most) noexcept {
  const int timeout = most ? static_cast<int>(most->count()) : -1;
  const int ready =
      ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), timeout);
  uint64_t wakes = 0;
  [[maybe_unused]] const ssize_t taken = ::read(wakes_.get(), &wakes, sizeof wakes);
  return std::span(events_).first(static_cast<size_t>(std::max(ready, 0)));
}

void Poller::wake() const noexcept {
  const CancellationOff whole;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wakes_.get(), &one, sizeof one);
}

}  // namespace millrace::nrt::sendrecv
