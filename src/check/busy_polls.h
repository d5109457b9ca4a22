// BusyPolls: notices a thread that asks again and again whether jobs are completed, while none
// completes. Short loops before a sleep are no hazard: they must take some milliseconds of the
// thread's processor time, and not pause much meanwhile. Not thread-safe; each thread has its
// own.
#pragma once

#include <cstdint>

namespace millrace::check {

class BusyPolls {
 public:
  // More polls than this in each of kMilliseconds of processor time are a hazard.
  static constexpr uint32_t kMostPerMillisecond = 100;
  static constexpr uint32_t kMilliseconds = 5;
  // How long such a millisecond may last. A busy thread may have to share its core.
  static constexpr int64_t kLongestNs = 8'000'000;

  // Counts a poll at `now_ns`. `processor_ns` is the processor time that the thread has used, and
  // `completions` the number of jobs of the process that have completed, both up to now. Returns
  // true when the thread has polled too often for too long; then the count begins anew.
  bool count(int64_t now_ns, int64_t processor_ns, uint64_t completions) noexcept;

 private:
  int64_t processor_begin_ns_ = 0;  // of the present millisecond, in processor time
  int64_t begin_ns_ = 0;            // of the same, in time that passes
  uint64_t completions_ = 0;        // at its begin
  uint32_t polls_ = 0;              // in it
  uint32_t busy_ = 0;               // busy milliseconds before it, in a row
};

}  // namespace millrace::check
