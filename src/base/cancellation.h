// CancellationOff: while it lives, the calling thread is not cancelled (pthread_cancel). A
// cancellation that was asked for takes effect afterwards, at the next cancellation point.
//
// Threads of the program end by a forced unwind, which no function may stop and which ends the
// process at a function that must not throw, as those of the faces and all destructors. So no call
// of the library is a cancellation point: every place that could be one is inside of such an
// object. Two calls of the C library; not for what runs with every job.
#pragma once

#include <pthread.h>

namespace millrace {

class CancellationOff {
 public:
  CancellationOff() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationOff() { pthread_setcancelstate(before_, nullptr); }
  CancellationOff(const CancellationOff&) = delete;
  CancellationOff& operator=(const CancellationOff&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace millrace
