// FutexHandoff: a lower bound for a round trip without spinning: two threads with one futex word
// for each direction. A round trip is
//
//   caller: store `ping`, wake the worker, sleep on `pong`
//   worker: wakes, stores `pong`, wakes the caller, sleeps on `ping`
//   caller: wakes
//
// This has two wake-ups by the kernel, as submitting to a sleeping lane and sleeping in wait()
// does, but no queue.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace millrace::bench {

class FutexHandoff {
 public:
  FutexHandoff() : worker_([this] { answer(); }) {}
  ~FutexHandoff() {
    say(ping_, kEnd);
    worker_.join();
  }
  FutexHandoff(const FutexHandoff&) = delete;
  FutexHandoff& operator=(const FutexHandoff&) = delete;

  void round_trip() {
    const uint32_t before = round_;
    round_ = before + 1 == kEnd ? 0 : before + 1;
    say(ping_, round_);
    sleep_while(pong_, before);
  }

 private:
  using Word = std::atomic<uint32_t>;
  static constexpr uint32_t kEnd = UINT32_MAX;

  void answer() {
    for (uint32_t seen = 0; (seen = sleep_while(ping_, seen)) != kEnd;) say(pong_, seen);
  }

  // Release and acquire make a thread's writes before the store visible to the other thread.
  static void say(Word& word, uint32_t value) {
    word.store(value, std::memory_order_release);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  static uint32_t sleep_while(Word& word, uint32_t old) {
    uint32_t seen;
    while ((seen = word.load(std::memory_order_acquire)) == old)
      syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
    return seen;
  }

  alignas(64) Word ping_{0};
  alignas(64) Word pong_{0};
  uint32_t round_ = 0;
  std::thread worker_;
};

}  // namespace millrace::bench
