// Dispatcher: the thread pool of the process on which users' callbacks run. They are posted through
// strands (strand.h), and never delay a lane.
//
// One thread serves all strands in turn. If strands are ready and none has had its turn for the
// time `patience`, another thread is started, so that a callback that takes long, or never returns,
// delays only the callbacks of its own strand. Threads that are no longer needed end.
//
//   strand:  idle --post--> ready --a thread takes it--> running --no call is left--> idle
//                             ^                             |
//                             +--------more calls-----------+
//
// Thread-safe; all functions may be called from callbacks, too.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

namespace millrace::queue {

class Dispatcher {
 public:
  // The default patience.
  static constexpr std::chrono::nanoseconds kPatience = std::chrono::seconds(1);
  // Maximum number of threads. If as many callbacks do not return, the other strands wait.
  static constexpr size_t kMaxThreads = 8;

  // Returns the dispatcher of the process, which strands keep alive. Its threads end after the last
  // pointer is gone and the posted calls are done.
  static std::shared_ptr<Dispatcher> instance();

  explicit Dispatcher(std::chrono::nanoseconds patience = kPatience);
  // Waits until the posted calls are done, at most for the patience. If calls run longer, a line is
  // logged and their threads are left running. On a thread of the dispatcher it returns at once,
  // and the calls run afterwards.
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  class Impl;
  const std::shared_ptr<Impl>& impl() const noexcept { return impl_; }  // for Strand

 private:
  // Shared with the threads, which outlive the dispatcher when a callback drops the last pointer.
  const std::shared_ptr<Impl> impl_;
};

}  // namespace millrace::queue
