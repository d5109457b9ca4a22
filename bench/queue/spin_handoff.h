// SpinHandoff: a lower bound for a spinning round trip: two threads that never sleep, with one word
// for each direction. The caller stores `ping`, the worker sees it and stores `pong`, and the
// caller sees that. Two cache lines move between the cores, and there is no queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "queue/waiting/spin.h"

namespace millrace::bench {

class SpinHandoff {
 public:
  SpinHandoff() : worker_([this] { answer(); }) {}
  ~SpinHandoff() {
    ping_.store(kEnd, std::memory_order_release);
    worker_.join();
  }
  SpinHandoff(const SpinHandoff&) = delete;
  SpinHandoff& operator=(const SpinHandoff&) = delete;

  void round_trip() {
    const uint64_t before = round_++;
    ping_.store(round_, std::memory_order_release);
    await_change(pong_, before);
  }

 private:
  using Word = std::atomic<uint64_t>;
  static constexpr uint64_t kEnd = UINT64_MAX;

  void answer() {
    for (uint64_t seen = 0; (seen = await_change(ping_, seen)) != kEnd;)
      pong_.store(seen, std::memory_order_release);
  }
  static uint64_t await_change(const Word& word, uint64_t old) {
    uint64_t seen;
    while ((seen = word.load(std::memory_order_acquire)) == old) queue::cpu_relax();
    return seen;
  }

  alignas(64) Word ping_{0};
  alignas(64) Word pong_{0};
  uint64_t round_ = 0;
  std::thread worker_;
};

}  // namespace millrace::bench
