// PipeSignalBlocked: while it exists, a write of this thread to a pipe without a reader fails with
// EPIPE and does not raise SIGPIPE, which would terminate a program that does not handle it.
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
  // Discards a SIGPIPE that a write has raised meanwhile, which is pending for this thread.
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
