#include "serve/http/exchange.h"

namespace millrace::serve {

void Exchange::begin(std::shared_ptr<Work> work) noexcept {
  if (!work) return;
  bool cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    cancelled = cancelled_;
    if (!ended_) work_ = work;
  }
  if (cancelled) work->cancel();
}

void Exchange::cancel() noexcept {
  std::shared_ptr<Work> work;
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    work = work_;
  }
  if (work) work->cancel();
}

bool Exchange::is_cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

void Exchange::end() noexcept {
  std::shared_ptr<Work> work;  // destroyed after the lock
  const std::lock_guard lock(mutex_);
  ended_ = true;
  work = std::exchange(work_, nullptr);
}

}  // namespace millrace::serve
