// Relay: threads through which each request goes, one after another, as it does in a server whose
// jobs run on one thread and whose answers are made on another.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace millrace::bench {

class Relay {
 public:
  using Task = std::function<void()>;

  explicit Relay(unsigned threads);
  ~Relay();

  // Runs the task on the last thread, after all others have passed it on; here if there is none.
  void pass(Task task);

 private:
  struct Stage {
    std::mutex mutex;
    std::condition_variable filled;
    std::vector<Task> tasks;
    bool ended = false;
    std::thread thread;
  };

  void put(size_t stage, Task task);
  void run(size_t stage);

  std::vector<Stage> stages_;
};

}  // namespace millrace::bench
