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

namespace millrace::queue {

struct LanesOptions {
  uint32_t count = 1;
  // How long an idle lane looks for work before it parks. Zero parks at once. Longer saves the
  // wake-up (tens of microseconds on virtual machines) at the price of a busy core.
  std::chrono::microseconds spin{20};
};

class Lanes {
 public:
  // Starts the threads. When the system refuses some of them the others serve: count() is what was
  // started, and a line is logged.
  explicit Lanes(LanesOptions options);
  ~Lanes();  // joins the threads
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  uint32_t count() const noexcept;

  class Impl;
  Impl& impl() noexcept { return *impl_; }  // for Unit

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::queue
