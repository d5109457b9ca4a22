#include "runtime/jobs/callback_sequencer.h"

#include <utility>

namespace millrace::runtime {

void CallbackSequencer::complete_locked(Ticket ticket, SessionJobId id, const Status& status) {
  Pending& completed = pending_[ticket - first_];
  completed.callback.set_result(id, status);
  completed.completed = true;
  if (order_ == CallbackOrder::kCompletion) strand_.post(std::move(completed.callback));
  post_ready();
}

queue::PreparedCall CallbackSequencer::reserve(JobCallback callback) {
  queue::PreparedCall prepared(std::move(callback));
  const std::lock_guard lock(mutex_);
  if (pending_.size() + reserved_ == pending_.capacity())
    pending_.set_capacity(pending_.capacity() * 2);
  ++reserved_;
  return prepared;
}

void CallbackSequencer::release() noexcept {
  const std::lock_guard lock(mutex_);
  --reserved_;
}

// Removes the completed jobs at the front. In the order of submission their callbacks are due now.
void CallbackSequencer::post_ready() {
  while (!pending_.empty() && pending_.front().completed) {
    Pending& front = pending_.front();
    if (order_ == CallbackOrder::kSubmission) strand_.post(std::move(front.callback));
    pending_.pop_front();
    ++first_;
  }
}

}  // namespace millrace::runtime
