// CompletionAwaiter: lets a coroutine co_await a request. If the request is completed, the
// coroutine continues at once; otherwise it is resumed on a dispatcher thread, like a callback of
// the unit. There it may submit and wait for other requests, but should not block for long. If it
// cannot be resumed that way (the unit is closed, the system refuses a thread, or there is no
// memory), co_await blocks until the completion.
#pragma once

#include <coroutine>
#include <memory>

#include "base/status.h"
#include "queue/callbacks/strand.h"
#include "queue/units/unit.h"
#include "queue/waiting/wait_list.h"

namespace millrace::queue {

// The result of co_await is the request's status, as Unit::wait returns it. The unit must live
// until then; it completes all its requests before it is destroyed.
class CompletionAwaiter final : public WaitNode {
 public:
  CompletionAwaiter(Unit& unit, SequenceId id) noexcept
      : WaitNode(counter_of(id)), unit_(unit), id_(id) {}
  CompletionAwaiter(const CompletionAwaiter&) = delete;
  CompletionAwaiter& operator=(const CompletionAwaiter&) = delete;

  bool await_ready() const noexcept;
  bool await_suspend(std::coroutine_handle<> coroutine);
  Status await_resume();

 private:
  void on_completed() noexcept override;

  Unit& unit_;
  const SequenceId id_;
  std::shared_ptr<Strand> strand_;
  PreparedCall resume_;
};

inline CompletionAwaiter completion_of(Unit& unit, SequenceId id) noexcept {
  return {unit, id};
}

}  // namespace millrace::queue
