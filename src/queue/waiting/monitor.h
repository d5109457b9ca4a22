// Monitor: the one timer thread of the process, for deadlines and watchdogs. It calls objects at
// the times they ask for. start() starts the thread. Thread-safe.
#pragma once

#include <boost/intrusive/set.hpp>
#include <memory>

#include "base/status.h"
#include "millrace/execution.hpp"
#include "queue/waiting/late_wakes.h"

namespace millrace::queue {

// An object with a timer. It contains its node of the monitor's list (an intrusive hook), so
// setting the timer allocates nothing.
class Watched : public boost::intrusive::set_base_hook<> {
 public:
  Watched() = default;
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  virtual ~Watched() = default;
  // Called on the monitor's thread, at or after the requested time, without the monitor's lock.
  // Must not block for long, since the calls of all other objects wait meanwhile.
  virtual void on_time() noexcept = 0;

 private:
  friend class Monitor;
  // Guarded by the monitor's mutex; valid while this object is in its list.
  Deadline due_;
  std::weak_ptr<Watched> self_;
};

class Monitor {
 public:
  // Returns the monitor of the process. Keep the pointer as long as call_at() may be called: the
  // thread ends after the last pointer is gone.
  static std::shared_ptr<Monitor> instance();

  Monitor();
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // The lateness of the wake-ups of this process's monitors. While a call is pending, the thread
  // wakes at least every 100 ms, so that a stop of the process is noticed.
  static const LateWakes& late_wakes() noexcept;

  // Starts the thread unless it runs. Fails with kResourceExhausted when the system refuses a
  // thread, or with kOutOfMemory.
  Status start() noexcept;

  // Requests one call of on_time() at `when`. If a call is already pending, the earlier time
  // counts. Requirement: start() has succeeded.
  void call_at(Deadline when, const std::shared_ptr<Watched>& watched) noexcept;
  // Cancels the pending call: none begins after this returns. Must be called before an object that
  // has ever requested a call is destroyed.
  void forget(Watched& watched) noexcept;

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;  // shared with the thread
};

}  // namespace millrace::queue
