// UnitStatistics: what an execution unit has done since it was created.
#pragma once

#include <chrono>
#include <cstdint>

namespace millrace {

// The numbers are read one after another while the unit goes on, so they need not add up exactly:
// once no job is in flight, `submitted` is the sum of the five numbers of outcomes. A reset does
// not set them back.
struct UnitStatistics {
  uint64_t submitted = 0;  // jobs that were accepted
  uint64_t refused = 0;    // calls that failed instead; submit_until() at its limit does not count
  uint32_t in_flight = 0;  // jobs that are accepted and not completed
  // The outcomes of the completed jobs.
  uint64_t succeeded = 0;
  uint64_t cancelled = 0;  // CANCELLED
  uint64_t dropped = 0;    // DROPPED, by WhenFull::kDropOldest
  uint64_t late = 0;       // DEADLINE_EXCEEDED
  uint64_t failed = 0;     // any other status
  // The moving average of the time that a job runs, without its time in the queue. The first four
  // jobs are measured and later each 61st, each one with WhenFull::kShedByDeadline, and none where
  // CallerHelps is, or amounts to, kNever. Zero if none was measured.
  std::chrono::nanoseconds mean_run{0};
};

}  // namespace millrace
