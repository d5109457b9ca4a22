// AnswerQueue: takes answers from any thread to the thread of the server. Adding one needs no
// memory and cannot fail, so that every request is answered.
#pragma once

#include <memory>
#include <mutex>

#include "base/status.h"
#include "base/unique_fd.h"
#include "serve/http/exchange.h"

namespace millrace::serve {

class AnswerQueue {
 public:
  // kIoError or kResourceExhausted if the system refuses a descriptor.
  static Result<std::shared_ptr<AnswerQueue>> create();

  ~AnswerQueue() { close(); }

  // Adds an exchange whose answer is set.
  void add(std::shared_ptr<Exchange> answered) noexcept;
  // Takes the oldest exchange of the queue; null if it is empty.
  std::shared_ptr<Exchange> take() noexcept;

  // Nobody takes answers any more: drops those that there are, and those that are added later.
  void close() noexcept;

  // The descriptor of an eventfd, which can be read when there may be answers.
  int descriptor() const { return event_.get(); }
  // Makes the descriptor unreadable until another answer is added.
  void clear_event() noexcept;

 private:
  explicit AnswerQueue(UniqueFd event) : event_(std::move(event)) {}

  const UniqueFd event_;
  std::mutex mutex_;
  std::shared_ptr<Exchange> first_, last_;
  bool closed_ = false;
};

}  // namespace millrace::serve
