// The outcome of cancel matches the status of the job, also while lanes and cancelling threads
// race.
#include <array>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/threads.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(cancel_against_completion) {
  constexpr int kRounds = 300;
  Unit unit = make_unit({.depth = 2});
  std::array<int, 3> outcomes = {};
  for (int round = 0; round < kRounds; ++round) {
    Job first = submit(unit, 0), second = submit(unit, 1);
    for (Job* job : {&second, &first}) {
      const CancelOutcome outcome = job->cancel(kPatience).value();
      ++outcomes[static_cast<size_t>(outcome)];
      const Status status = job->wait(kPatience);
      if (outcome == CancelOutcome::kTooLate)
        EXPECT_STATUS(status, kOk);
      else
        EXPECT_STATUS(status, kCancelled);
    }
  }
  EXPECT_EQ(outcomes[0] + outcomes[1] + outcomes[2], 2 * kRounds);
  EXPECT_EQ(unit.in_flight(), 0u);
  EXPECT_EQ(unit.last_submitted() & 0xffff, 2u * kRounds);
}

}  // namespace
}  // namespace millrace::conformance
