// Workers: a few threads for what takes too long for the thread that serves all connections, such
// as reading megabytes of JSON. Thread-safe.
#pragma once

#include <functional>
#include <memory>

namespace millrace::serve {

class Workers {
 public:
  explicit Workers(unsigned threads);
  ~Workers();  // waits for what was posted

  // Runs `work` on one of the threads. It must not throw.
  void post(std::function<void()> work);
  // Waits for what was posted; nothing may be posted afterwards.
  void join();

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace millrace::serve
