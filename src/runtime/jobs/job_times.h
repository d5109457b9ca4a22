// JobTimes: when a job began to run and when it was done, for callers that log that.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace millrace::runtime {

// Points in time as now_ns() gives them, written by the job's task. Relaxed, since the completion
// of a job orders its writes before the reads of those who wait for it; the start of a run that
// hangs may be missed, which only costs a number in the log.
class JobTimes {
 public:
  void mark_start() noexcept { started_.store(now_ns(), std::memory_order_relaxed); }
  void mark_end() noexcept { ended_.store(now_ns(), std::memory_order_relaxed); }

  // 0 when the job never ran.
  int64_t started() const noexcept { return started_.load(std::memory_order_relaxed); }
  // The time at which the device was done with the job, or the job was withdrawn or given up. It is
  // set before the status is visible.
  int64_t ended() const noexcept { return ended_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> started_{0};
  std::atomic<int64_t> ended_{0};
};

}  // namespace millrace::runtime
