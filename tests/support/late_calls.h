// Calls a function as late as a thread can.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <thread>

namespace millrace::test {

// Calls `call` three times on a thread of its own: while it runs; in the destructor of a
// thread_local object that is older than those which the first call has made; and in the destructor
// of a pthread key, after all thread_local objects.
inline void call_until_thread_ends(std::function<void()> call) {
  struct CallAtEnd {
    explicit CallAtEnd(const std::function<void()>& function) : call(function) {}
    ~CallAtEnd() { call(); }
    const std::function<void()>& call;
  };
  pthread_key_t key{};
  ASSERT_EQ(pthread_key_create(
                &key, [](void* function) { (*static_cast<std::function<void()>*>(function))(); }),
            0);
  std::thread([&] {
    thread_local const CallAtEnd at_end(call);
    static_cast<void>(at_end);
    call();
    ASSERT_EQ(pthread_setspecific(key, &call), 0);
  }).join();
  pthread_key_delete(key);
}

}  // namespace millrace::test
