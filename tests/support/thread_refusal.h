// ThreadRefusal: while it lives, the system refuses every new thread of the process, because each
// would get a stack that no address space holds.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>

namespace millrace::test {

class ThreadRefusal {
 public:
  ThreadRefusal() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t attributes = before_;
    pthread_attr_setstacksize(&attributes, kHugeStack);
    EXPECT_EQ(pthread_setattr_default_np(&attributes), 0);
  }
  ~ThreadRefusal() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  ThreadRefusal(const ThreadRefusal&) = delete;
  ThreadRefusal& operator=(const ThreadRefusal&) = delete;

 private:
  static constexpr size_t kHugeStack = size_t{1} << 60;
  pthread_attr_t before_;
};

}  // namespace millrace::test
