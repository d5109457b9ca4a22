// AllSignalsBlocked: while it lives, this thread takes no signals. A new thread inherits the mask
// of the one that starts it, so that threads of the library never take the program's signals.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace millrace {

class AllSignalsBlocked {
 public:
  AllSignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    // Raised by what the thread itself does; blocked, it would end the process without its handler.
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
