#include "queue/units/awaitable.h"

#include <new>
#include <utility>

#include "base/process/forked_child.h"
#include "queue/units/unit_impl.h"

namespace millrace::queue {

bool CompletionAwaiter::await_ready() const noexcept {
  return unit_.is_completed(id_) || !unit_.impl().issued(id_);
}

bool CompletionAwaiter::await_suspend(std::coroutine_handle<> coroutine) {
  if (is_forked_child()) return false;  // await_resume() returns the error
  strand_ = unit_.impl().strand_for_waiters();
  if (!strand_) return false;  // await_resume() blocks
  try {
    resume_ = PreparedCall([coroutine](uint64_t, const Status&) { coroutine.resume(); });
  } catch (const std::bad_alloc&) {
    return false;
  }
  return unit_.impl().add_waiter(*this);
}

void CompletionAwaiter::on_completed() noexcept {
  // The coroutine, and this awaiter in its frame, may be gone as soon as the call is posted.
  const std::shared_ptr<Strand> strand = std::move(strand_);
  strand->post(std::move(resume_));
}

Status CompletionAwaiter::await_resume() {
  return unit_.wait(id_, std::chrono::nanoseconds::max());
}

}  // namespace millrace::queue
