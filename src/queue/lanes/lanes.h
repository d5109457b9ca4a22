// Lanes: the thread pool of a device, one worker thread ("lane") per processor core of its budget.
//
// A free lane takes the oldest ready request over all units attached to these lanes; a unit runs
// one request at a time, in the order of submission. Idle lanes spin for a bounded time and then
// park; a submit wakes one only if no lane is searching for work.
//
// Thread-safe, except for the destructor. Attached units must be destroyed before the lanes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/status.h"

namespace millrace::queue {

struct LanesOptions {
  uint32_t count = 1;
  // How long an idle lane spins for work before it parks; adapts downwards while no work comes.
  // With zero it parks at once. Otherwise it spins for up to 0.5 ms more: 100 us after it has
  // helped another lane's request, and 400 us while a request runs that it may help. A longer time
  // saves the wake-up (tens of microseconds on virtual machines) at the price of a busy core.
  std::chrono::microseconds spin{20};
  // Start the threads on first use.
  bool lazy = false;
  // The core to which all threads are pinned. If the system refuses, a line is logged and they run
  // on any core. Requests then run on these threads only: Unit::execute does not borrow a pinned
  // lane, since the calling thread may run on another core.
  std::optional<int> core = {};
  const char* thread_name = "millrace-lane";  // static, at most 15 characters
};

class Lanes {
 public:
  // Starts the threads. If the system refuses some of them, a line is logged and the others serve:
  // count() is the number that was started. The missing ones are tried again by fill_up(), when a
  // unit is created or reset, and at most once a second by a lane that has nothing to do.
  explicit Lanes(LanesOptions options);
  // Ends the threads and joins them. A thread whose request hung and was given up (see Unit) is
  // left alone: it ends by itself if the request ever does.
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  // Starts the missing lanes, as far as the system allows. OK if there is at least one lane
  // afterwards; kResourceExhausted if the system has refused every thread so far; kNoLane if all
  // lanes that were started have been given up.
  Status fill_up();

  // Returns the number of lanes in service: those that were started, less those that were given up
  // and could not be replaced.
  uint32_t count() const noexcept;
  // Returns a bound on lane ids: all LaneIds are smaller. It includes threads that were given up.
  uint32_t id_limit() const noexcept;
  // Returns the number of threads that are set aside because their request hangs. Each is replaced
  // by a new lane, as long as there are no more than kMaxQuarantined.
  uint32_t quarantined() const noexcept;
  static constexpr uint32_t kMaxQuarantined = 4;

  class Impl;
  const std::shared_ptr<Impl>& impl() const noexcept { return impl_; }  // for Unit

 private:
  const std::shared_ptr<Impl> impl_;  // shared with the threads
};

}  // namespace millrace::queue
