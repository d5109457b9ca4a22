// Exchange: one request that is being answered, shared by its connection and by whoever answers.
// Its work may be cancelled before the handler has returned it. Thread-safe, except that `answer`
// belongs to the one who answers, and to the connection once it is in the queue.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "serve/http/message.h"

namespace millrace::serve {

class Connection;

class Exchange {
 public:
  explicit Exchange(std::weak_ptr<Connection> connection) : connection_(std::move(connection)) {}

  // Takes the work that the handler has returned, which may be null. Cancels it if that was wanted
  // in the meantime.
  void begin(std::shared_ptr<Work> work) noexcept;
  void cancel() noexcept;
  bool is_cancelled() const;
  // The request is answered, or nobody awaits the answer: lets go of the work, which may refer to
  // this object.
  void end() noexcept;

  // Nobody takes the answer: frees its memory.
  void drop_answer() noexcept { const HttpResponse dropped = std::move(answer); }

  // Null if the connection has been closed.
  std::shared_ptr<Connection> connection() const { return connection_.lock(); }

  HttpResponse answer;

 private:
  friend class AnswerQueue;
  const std::weak_ptr<Connection> connection_;
  mutable std::mutex mutex_;
  std::shared_ptr<Work> work_;
  bool cancelled_ = false, ended_ = false;
  std::shared_ptr<Exchange> next_;  // in the queue of answers
};

}  // namespace millrace::serve
