// Recognises when another thread sleeps in the kernel, so that a test can act on a parked thread
// without guessing how long parking takes.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

namespace millrace::queue {

// A thread that runs `work`, which must sleep nowhere but where the test expects it.
class SleepingThread {
 public:
  explicit SleepingThread(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          tid_.store(static_cast<int>(::syscall(SYS_gettid)), std::memory_order_release);
          work();
          ended_.store(true, std::memory_order_release);
        }) {}
  ~SleepingThread() { join(); }

  // Many looks in a row: a thread may also nap for an instant in an allocator or a sanitizer. On a
  // machine so busy that the looks take longer than the thread sleeps, returns when it has ended,
  // and the test goes on to tell what came of that.
  void await_sleep() const {
    for (int asleep = 0; asleep < 50 && !has_ended(); std::this_thread::yield())
      asleep = state() == 'S' ? asleep + 1 : 0;
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  bool has_ended() const { return ended_.load(std::memory_order_acquire); }
  char state() const {
    const int tid = tid_.load(std::memory_order_acquire);
    if (tid == 0) return '?';
    std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/stat");
    std::string line;
    std::getline(file, line);
    const size_t name_end = line.rfind(')');
    return name_end == std::string::npos ? '?' : line[name_end + 2];
  }

  std::atomic<int> tid_{0};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace millrace::queue
