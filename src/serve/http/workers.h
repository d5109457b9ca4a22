// Workers: a few threads for what takes too long for the thread that serves all connections, such
// as reading megabytes of JSON. What waits for them is bounded. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace millrace::serve {

class Workers {
 public:
  // The number of a task that was posted; kNoTask is none.
  using Ticket = uint64_t;
  static constexpr Ticket kNoTask = 0;
  static constexpr size_t kMostWaiting = 256;

  // Throws std::runtime_error if the system refuses the threads.
  explicit Workers(unsigned threads, size_t most_waiting = kMostWaiting);
  ~Workers();  // joins

  // Runs `work`, which must not throw, on one of the threads. kNoTask if as many tasks as may wait
  // do, or after join(); nothing has changed then. Throws std::bad_alloc.
  [[nodiscard]] Ticket post(std::function<void()> work);
  // Takes back a task that has not begun. False if it has.
  bool withdraw(Ticket ticket);
  // The number of tasks that have not begun.
  size_t waiting() const;
  // Waits for what was posted.
  void join();

 private:
  struct Task {
    Ticket ticket;
    std::function<void()> work;
  };

  void run();

  const size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  Ticket last_ = kNoTask;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace millrace::serve
