#include "serve/http/answer_queue.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace millrace::serve {

Result<std::shared_ptr<AnswerQueue>> AnswerQueue::create() {
  UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return io_error("create an eventfd for answers", errno);
  return std::shared_ptr<AnswerQueue>(new AnswerQueue(std::move(event)));
}

// The descriptor stays readable while the queue is not empty, so one event is enough.
void AnswerQueue::add(std::shared_ptr<Exchange> answered) noexcept {
  bool was_empty = false;
  {
    std::unique_lock lock(mutex_);
    if (closed_) {
      lock.unlock();
      answered->drop_answer();
      return;
    }
    was_empty = !first_;
    if (was_empty)
      first_ = answered;
    else
      last_->next_ = answered;
    last_ = std::move(answered);
  }
  if (was_empty) static_cast<void>(eventfd_write(event_.get(), 1));
}

std::shared_ptr<Exchange> AnswerQueue::take() noexcept {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Exchange> oldest = std::move(first_);
  if (!oldest) return nullptr;
  first_ = std::move(oldest->next_);
  if (!first_) last_.reset();
  return oldest;
}

// The memory of an answer may belong to an object that refers to the exchange, and so to this
// queue.
void AnswerQueue::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  while (const auto answered = take()) answered->drop_answer();
}

void AnswerQueue::clear_event() noexcept {
  eventfd_t count = 0;
  static_cast<void>(eventfd_read(event_.get(), &count));
}

}  // namespace millrace::serve
