#include "queue/waiting/fd_notifier.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "base/cancellation.h"
#include "base/files/own_descriptor.h"

namespace millrace::queue {
namespace {

Result<UniqueFd> duplicate(int fd) {
  if (fd < 0) return UniqueFd();
  UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, kLowestOwnDescriptor));
  if (!copy)
    return invalid_argument(fmt::format("cannot duplicate file descriptor {}: {}", fd,
                                        std::generic_category().message(errno)));
  return copy;
}

}  // namespace

void FdNotifier::add_one(const UniqueFd& fd) noexcept {
  const CancellationOff whole;
  pollfd ready{fd.get(), POLLOUT, 0};
  // For a pipe without a reader poll() reports POLLERR as well; writing to it would raise SIGPIPE.
  if (::poll(&ready, 1, 0) != 1 || ready.revents != POLLOUT) return;
  const uint64_t one = 1;
  // Fails only if another thread or process has written since poll(); then it is readable.
  [[maybe_unused]] const ssize_t written = ::write(fd.get(), &one, sizeof one);
}

Status FdNotifier::replace(const Key& key, int fd) {
  MILLRACE_ASSIGN_OR_RETURN(UniqueFd copy, duplicate(fd));
  const std::lock_guard lock(mutex_);
  try {
    if (copy)
      by_counter_[key] = std::move(copy);
    else
      by_counter_.erase(key);
  } catch (const std::bad_alloc&) {
    return {StatusCode::kOutOfMemory, "no memory to register another event file descriptor"};
  }
  update_count();
  return {};
}

Status FdNotifier::set_each(int fd) {
  MILLRACE_ASSIGN_OR_RETURN(UniqueFd copy, duplicate(fd));
  const std::lock_guard lock(mutex_);
  each_ = std::move(copy);
  update_count();
  return {};
}

Status FdNotifier::replace_free(uint32_t k, int fd) {
  MILLRACE_ASSIGN_OR_RETURN(UniqueFd copy, duplicate(fd));
  const std::lock_guard lock(mutex_);
  free_ = std::move(copy);
  wanted_free_ = k;
  update_count();
  return {};
}

void FdNotifier::completed(uint64_t first, uint64_t last) noexcept {
  const std::lock_guard lock(mutex_);
  const auto begin = by_counter_.lower_bound({first, 0});
  const auto end = by_counter_.lower_bound({last + 1, 0});
  if (begin == end) return;
  for (auto it = begin; it != end; ++it) add_one(it->second);
  by_counter_.erase(begin, end);
  update_count();
}

void FdNotifier::notify_each() noexcept {
  const std::lock_guard lock(mutex_);
  if (each_) add_one(each_);
}

void FdNotifier::update_count() noexcept {
  count_.store(by_counter_.size() + (each_ ? 1 : 0) + (free_ ? 1 : 0), std::memory_order_seq_cst);
}

}  // namespace millrace::queue
