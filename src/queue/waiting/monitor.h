// Monitor: the one thread of the process that looks at the clock, for deadlines and watchdogs. It
// is started when a call is first asked for. Thread-safe.
#pragma once

#include <boost/intrusive/set.hpp>
#include <memory>

#include "base/status.h"
#include "millrace/execution.hpp"
#include "queue/waiting/late_wakes.h"

namespace millrace::queue {

// An object that the monitor watches. Holds its own place in the monitor's list, so that asking for
// a call needs no memory.
class Watched : public boost::intrusive::set_base_hook<> {
 public:
  Watched() = default;
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  virtual ~Watched() = default;
  // On the monitor's thread, at or after the time that was asked for. Must not block for long: the
  // calls for all other units wait.
  virtual void on_time() noexcept = 0;

 private:
  friend class Monitor;
  // Under the monitor's lock; meaningful while this object is in its list.
  Deadline due_;
  std::weak_ptr<Watched> self_;
};

class Monitor {
 public:
  // The monitor of the process; keep the pointer while times may still be asked for. The thread
  // ends after the last pointer is gone.
  static std::shared_ptr<Monitor> instance();

  Monitor();
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // How late the monitors of this process have woken: they wake often while a request is watched.
  static const LateWakes& late_wakes() noexcept;

  // Starts the thread unless it runs. kResourceExhausted when the system refuses one, kOutOfMemory.
  Status start() noexcept;

  // Asks for one call of on_time at `when`, or earlier where an earlier one was asked for.
  // Requirement: start() has succeeded.
  void call_at(Deadline when, const std::shared_ptr<Watched>& watched) noexcept;
  // To be called before the object ends, if it ever asked for a call: none begins any more.
  void forget(Watched& watched) noexcept;

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;  // shared with the thread
};

}  // namespace millrace::queue
