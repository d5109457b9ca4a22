// TestRun: the control of a request that a test runs itself, as a unit would have begun it.
#pragma once

#include "queue/run_control.h"

namespace millrace::test {

class TestRun : public queue::RunControl {
 public:
  explicit TestRun(Deadline deadline = kNoDeadline) { begin(kNumber, 0, deadline); }
  // Asks it to stop. Any thread.
  void stop() noexcept { request_stop(kNumber); }

 private:
  static constexpr uint64_t kNumber = 1;  // in its unit
};

}  // namespace millrace::test
