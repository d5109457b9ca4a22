// TestRun: the run control of a request that a test runs itself, in the state in which a unit would
// pass it to a task.
#pragma once

#include "queue/run_control.h"

namespace millrace::test {

class TestRun : public queue::RunControl {
 public:
  explicit TestRun(Deadline deadline = kNoDeadline) { begin(kNumber, 0, deadline); }
  // Asks the request to stop. Thread-safe.
  void stop() noexcept { request_stop(kNumber); }

 private:
  static constexpr uint64_t kNumber = 1;  // in its unit
};

}  // namespace millrace::test
