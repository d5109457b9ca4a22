#include "runtime/callback_sequencer.h"

#include <utility>

namespace millrace::runtime {

void CallbackSequencer::complete(Ticket ticket, JobId id, const Status& status) {
  const std::lock_guard lock(mutex_);
  Pending& completed = pending_[ticket - first_];
  completed.id = id;
  completed.status = status;
  completed.completed = true;
  if (order_ == CallbackOrder::kCompletion) post(completed);
  while (!pending_.empty() && pending_.front().completed) {
    if (order_ == CallbackOrder::kSubmission) post(pending_.front());
    pending_.pop_front();
    ++first_;
  }
}

void CallbackSequencer::post(Pending& pending) {
  dispatcher_->post([callback = std::move(pending.callback), id = pending.id,
                     status = std::move(pending.status)] { callback(id, status); });
}

void CallbackSequencer::drain() {
  std::shared_ptr<queue::Dispatcher> dispatcher;
  {
    const std::lock_guard lock(mutex_);
    dispatcher = dispatcher_;
  }
  if (dispatcher != nullptr) dispatcher->drain();
}

}  // namespace millrace::runtime
