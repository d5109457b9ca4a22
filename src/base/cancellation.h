// CancellationOff: while it exists, the calling thread is not cancelled (pthread_cancel). A
// cancellation that is requested meanwhile takes effect afterwards, at the next cancellation point.
//
// glibc cancels a thread by a forced unwind, which must not be caught and which terminates the
// process at a noexcept function, such as most functions of the APIs and all destructors. So no
// call of Millrace is a cancellation point: every place that could be one is within the scope of
// such an object. It costs two calls of the C library, and is not used on the path of every job.
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
