// Precedence lets jobs of models with a lower priority wait while those of a higher one are in
// flight, as a program would that gives way. Lanes themselves serve the oldest job first.
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace millrace::cli {

class Precedence {
 public:
  // Whether no job of a higher priority is in flight.
  bool is_open(uint32_t priority) const;
  // Waits until it is open or `until_ns` (base/clock.h) has passed, and counts a job of this
  // priority as in flight from then on.
  void enter(uint32_t priority, int64_t until_ns);
  // The job is no longer in flight.
  void leave(uint32_t priority);

 private:
  bool is_open_locked(uint32_t priority) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint32_t, size_t> in_flight_;  // by priority; without zeros
};

}  // namespace millrace::cli
