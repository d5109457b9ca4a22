// execute is queued behind the jobs that were submitted before.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"
#include "tests/conformance/support/threads.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(execute_keeps_the_order) {
  HookGate starts;
  Unit unit = make_unit();
  starts.hold(next_id(unit));
  Job first = submit(unit, 0), second = submit(unit, 1);
  const std::vector<JobId> ids = {first.id(), second.id(), second.id() + 1};
  auto executed = on_thread([&] { return unit.execute(model(), args(2)); });
  EXPECT_TRUE(eventually([&] { return unit.last_submitted() == ids[2]; }));
  EXPECT_FALSE(unit.is_completed(ids[2]));
  starts.release();
  EXPECT_STATUS(executed.get(), kOk);
  EXPECT_EQ(starts.ids(), ids);
  EXPECT_STATUS(first.wait(kPatience), kOk);
  EXPECT_STATUS(second.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
