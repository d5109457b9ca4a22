// TestRun: the run control of a request that a test runs itself, in the state in which a unit would
// pass it to a task.
#pragma once

#include "queue/requests/run_control.h"

namespace millrace::test {

class TestRun : public queue::RunControl {
 public:
  // With a `number` other than 0, as the request that its device has given that number.
  explicit TestRun(Deadline deadline = kNoDeadline, uint64_t number = 0) {
    begin(kSequence, 0, deadline, number);
  }
  // Asks the request to stop. Thread-safe.
  void stop() noexcept { request_stop(kSequence); }

 private:
  static constexpr uint64_t kSequence = 1;
};

}  // namespace millrace::test
