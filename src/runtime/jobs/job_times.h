// JobTimes: the times at which a job began to run and ended, for callers that log them.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace millrace::runtime {

// Points in time as returned by now_ns(), written by the job's task. All accesses are relaxed: the
// completion of a job orders its writes before the reads of threads that have waited for it. The
// start of a run that hangs may not be seen; then only the log is less precise.
class JobTimes {
 public:
  void mark_start() noexcept { started_.store(now_ns(), std::memory_order_relaxed); }
  void mark_end() noexcept { ended_.store(now_ns(), std::memory_order_relaxed); }

  // Returns the start of the run; 0 if the job never ran.
  int64_t started() const noexcept { return started_.load(std::memory_order_relaxed); }
  // Returns when the device was done with the job, or the job was removed or given up. It is set
  // before the status is visible.
  int64_t ended() const noexcept { return ended_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> started_{0};
  std::atomic<int64_t> ended_{0};
};

}  // namespace millrace::runtime
