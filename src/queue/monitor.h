// Monitor: the one thread of the process that looks at the clock, for deadlines and watchdogs. It
// is started when a call is first asked for. Thread-safe.
#pragma once

#include <memory>

#include "base/status.h"
#include "millrace/execution.hpp"

namespace millrace::queue {

// What the monitor watches over.
class Watched {
 public:
  virtual ~Watched() = default;
  // On the monitor's thread, at or after a time that was asked for. Must not block for long: the
  // calls for all other units wait.
  virtual void on_time() noexcept = 0;
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

  // Starts the thread unless it runs. kResourceExhausted when the system refuses one.
  Status start();

  // Asks for one call of on_time at `when`, if the object still lives then. Requirement: start()
  // has succeeded. Ask only for times earlier than all that were asked for, so that the list stays
  // short.
  void call_at(Deadline when, std::weak_ptr<Watched> watched);

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;  // shared with the thread
};

}  // namespace millrace::queue
