// co_await a request. The coroutine goes on at once when the request is completed, and otherwise on
// the dispatcher thread, like a callback of the unit: it may submit and wait for other requests,
// and should not block for long. Where there is no thread for it (the unit is closed, the system
// refuses one, or there is no memory) co_await waits.
#pragma once

#include <coroutine>
#include <memory>

#include "base/status.h"
#include "queue/callbacks/strand.h"
#include "queue/units/unit.h"
#include "queue/waiting/wait_list.h"

namespace millrace::queue {

// Result of co_await: the request's status, as Unit::wait gives it. The unit must live until then;
// it completes all its requests before it ends.
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
