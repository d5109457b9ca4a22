// AllSignalsBlocked: while it exists, all signals are blocked on this thread. A new thread inherits
// the mask of its creator, so that threads of Millrace, which are started within such a scope,
// never handle the program's signals.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace millrace {

class AllSignalsBlocked {
 public:
  AllSignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    // SIGSYS is raised by the thread's own system calls (seccomp). If it were blocked, it would
    // terminate the process without calling the handler.
    sigdelset(&all, SIGSYS);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace millrace
