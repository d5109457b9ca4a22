#include "bench/serve/relay.h"

#include <utility>

namespace millrace::bench {

Relay::Relay(unsigned threads) : stages_(threads) {
  for (size_t i = 0; i < stages_.size(); ++i)
    stages_[i].thread = std::thread([this, i] { run(i); });
}

Relay::~Relay() {
  for (Stage& stage : stages_) {
    {
      const std::lock_guard lock(stage.mutex);
      stage.ended = true;
    }
    stage.filled.notify_one();
    stage.thread.join();
  }
}

void Relay::pass(Task task) {
  if (stages_.empty()) return task();
  put(0, std::move(task));
}

void Relay::put(size_t stage, Task task) {
  {
    const std::lock_guard lock(stages_[stage].mutex);
    stages_[stage].tasks.push_back(std::move(task));
  }
  stages_[stage].filled.notify_one();
}

void Relay::run(size_t stage) {
  Stage& own = stages_[stage];
  std::vector<Task> tasks;
  while (true) {
    {
      std::unique_lock lock(own.mutex);
      own.filled.wait(lock, [&] { return own.ended || !own.tasks.empty(); });
      if (own.tasks.empty()) return;
      tasks.swap(own.tasks);
    }
    for (Task& task : tasks) {
      if (stage + 1 < stages_.size())
        put(stage + 1, std::move(task));
      else
        task();
    }
    tasks.clear();
  }
}

}  // namespace millrace::bench
