// Dispatcher: the threads of the process on which users' callbacks run. Strands (strand.h) hand
// them over.
//
// Callbacks never delay a lane. One thread serves all strands in turn, as long as none waits longer
// than its patience for it: then another thread is started, so that a callback that takes long, or
// never returns, delays only those of its own strand. Threads that are no longer needed end.
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
  static constexpr std::chrono::nanoseconds kPatience = std::chrono::seconds(1);
  // Maximum number of threads. If as many callbacks do not return, the other strands wait.
  static constexpr size_t kMaxThreads = 8;

  // The dispatcher of the process; strands keep it. Its threads end after the last pointer is gone
  // and the posted calls are done.
  static std::shared_ptr<Dispatcher> instance();

  explicit Dispatcher(std::chrono::nanoseconds patience = kPatience);
  // Waits until the posted calls are done, at most for its patience; what runs longer is left to
  // run, with a line in the log. On a thread of the dispatcher: returns at once and the calls run
  // afterwards.
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
