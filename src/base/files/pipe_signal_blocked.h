// PipeSignalBlocked: while it lives, a write of this thread to a pipe without a reader fails with
// EPIPE and raises no SIGPIPE, which would end a program that does not expect it.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <time.h>

namespace millrace {

class PipeSignalBlocked {
 public:
  PipeSignalBlocked() noexcept {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  // Discards the signal that a write has raised and that is pending for this thread.
  ~PipeSignalBlocked() {
    constexpr timespec kAtOnce{};
    if (!was_pending_) sigtimedwait(&signal_, nullptr, &kAtOnce);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalBlocked(const PipeSignalBlocked&) = delete;
  PipeSignalBlocked& operator=(const PipeSignalBlocked&) = delete;

 private:
  bool was_pending_;
  sigset_t signal_;
  sigset_t before_;
};

}  // namespace millrace
