// Lanes: the threads of a device that run requests, one per processor core of its budget.
//
// A free lane takes the oldest ready request over all units attached to these lanes; a unit runs
// one request at a time, in the order of submission. Idle lanes spin for a bounded time and then
// park; a submit wakes one only when none is awake.
//
// Attached units must be gone (see Unit) before the lanes are destroyed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/status.h"

namespace millrace::queue {

struct LanesOptions {
  uint32_t count = 1;
  // How long an idle lane looks for work before it parks; adapts downwards while no work comes.
  // Zero parks at once. Otherwise a lane looks for 0.5 ms more at most: for 100 us after it has
  // taken part in another lane's request, and for 400 us while there is a request that it may take
  // part in. A longer time saves the wake-up (tens of microseconds on virtual machines) at the
  // price of a busy core.
  std::chrono::microseconds spin{20};
  // Start the threads on first use.
  bool lazy = false;
  // The core to which all threads are pinned; where the system refuses that, a line is logged and
  // they run anywhere. Requests run on these threads only: a calling thread, which runs on another
  // core, does not borrow such a lane (Unit::execute).
  std::optional<int> core = {};
  const char* thread_name = "millrace-lane";  // static, at most 15 characters
};

class Lanes {
 public:
  // Starts the threads. When the system refuses some of them the others serve: count() is what was
  // started, and a line is logged. What is missing is tried again by fill_up(), when a unit is made
  // or reset, and at most once a second when a lane has nothing to do.
  explicit Lanes(LanesOptions options);
  // Ends the threads and joins them. A thread whose request hung and was given up (see Unit) is
  // left alone: it ends by itself if the request ever does.
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  // Starts the lanes that are missing, as far as the system lets it. OK when there is at least one
  // lane; kResourceExhausted when the system has refused every thread so far, kNoLane when all that
  // were started have been given up. Thread-safe.
  Status fill_up();

  // Lanes that run requests now: those that were started, less those that were given up and could
  // not be replaced.
  uint32_t count() const noexcept;
  // All LaneIds are smaller than this. It counts the lanes and those that may have been given up.
  uint32_t id_limit() const noexcept;
  // The number of threads that are set aside because their request hangs. Each is replaced by a new
  // lane, as long as there are no more than kMaxQuarantined.
  uint32_t quarantined() const noexcept;
  static constexpr uint32_t kMaxQuarantined = 4;

  class Impl;
  const std::shared_ptr<Impl>& impl() const noexcept { return impl_; }  // for Unit

 private:
  const std::shared_ptr<Impl> impl_;  // shared with the threads
};

}  // namespace millrace::queue
