// execute runs the job on the calling thread where the unit is idle and a lane is free.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(execute_inline) {
  HookGate starts;
  Unit unit = make_unit();
  // A lane that has just run something may still look for more.
  EXPECT_TRUE(eventually([&] {
    EXPECT_STATUS(unit.execute(model(), args()), kOk);
    return starts.thread_of(unit.last_submitted()) == std::this_thread::get_id();
  }));
  EXPECT_EQ(unit.last_completed(), unit.last_submitted());
  EXPECT_EQ(unit.in_flight(), 0u);
  expect_computed({0});
}

}  // namespace
}  // namespace millrace::conformance
