// A coroutine submits and awaits job after job.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/coroutine.h"

namespace millrace::conformance {
namespace {

Coroutine run_in_turn(Unit& unit, const Model& model, JobArgs args, Outcome& outcome) {
  constexpr int kJobs = 100;
  Status last;
  for (int i = 0; i < kJobs && last.ok(); ++i) {
    Result<Job> job = unit.submit(model, args);
    last = job.ok() ? co_await *job : job.status();
  }
  outcome.set(last);
}

MILLRACE_BEHAVIOUR(co_await_may_submit) {
  Outcome outcome;
  Unit unit = make_unit({.depth = 1});
  run_in_turn(unit, model(), args(), outcome);
  EXPECT_STATUS(outcome.await(), kOk);
  EXPECT_EQ(unit.last_completed() & 0xffff, 100u);
}

}  // namespace
}  // namespace millrace::conformance
