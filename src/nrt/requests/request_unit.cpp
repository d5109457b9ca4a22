#include "nrt/requests/request_unit.h"

#include <fcntl.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "base/files/own_descriptor.h"
#include "memory/fault_gates.h"

namespace millrace::nrt {
namespace {

constexpr uint8_t kHandleSlot = 1;

}  // namespace

void RequestUnit::await_releases() const noexcept {
  while (!releases_->none_pending() && unit_->state() != UnitState::kDegraded)
    std::this_thread::yield();
}

// All handles of a request are duplicates of one event fd, which is never read and so stays
// readable. It occupies its own registration slot, so that the program may register an event fd for
// the same request as well.
Result<int> RequestUnit::completion_handle(nrta_seq_t sequence) {
  MILLRACE_RETURN_IF_ERROR(memory::pass_descriptor_gate());
  const std::lock_guard lock(mutex_);
  forget_completed();
  UniqueFd& event = handles_[sequence];
  if (!event) {
    UniqueFd made = own_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!made) return io_error("eventfd", errno);
    MILLRACE_RETURN_IF_ERROR(unit_->notify_fd(inward(sequence), made.get(), kHandleSlot));
    event = std::move(made);
  }
  const int handle = fcntl(event.get(), F_DUPFD_CLOEXEC, kLowestOwnDescriptor);
  if (handle < 0) return io_error("dup of an event fd", errno);
  return handle;
}

// Closes the event fds of completed requests. Their duplicates in the program stay readable.
void RequestUnit::forget_completed() {
  std::erase_if(handles_,
                [&](const auto& entry) { return unit_->is_completed(inward(entry.first)); });
}

}  // namespace millrace::nrt
