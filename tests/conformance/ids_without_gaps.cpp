// Ids count from 1 without gaps, with the unit's id on top; a refused job has none.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(ids_without_gaps) {
  constexpr JobId kCounter = (JobId{1} << 48) - 1;
  Unit unit = make_unit({.depth = 2}), other = make_unit({.depth = 2});
  EXPECT_EQ(unit.last_submitted() & kCounter, 0u);
  EXPECT_EQ(unit.last_completed(), unit.last_submitted());
  LaneBlocker lanes(device_name());
  Job first = submit(unit, 0);
  Job second = submit(unit, 1);
  EXPECT_STATUS(unit.submit(model(), args(2)).status(), kQueueFull);
  EXPECT_EQ(first.id() & kCounter, 1u);
  EXPECT_EQ(second.id(), first.id() + 1);
  EXPECT_EQ(unit.last_submitted(), second.id());
  Job elsewhere = submit(other, 3);
  EXPECT_EQ(elsewhere.id() & kCounter, 1u);
  EXPECT_NE(elsewhere.id(), first.id());
  lanes.release();
  EXPECT_STATUS(second.wait(kPatience), kOk);
  EXPECT_EQ(submit(unit, 2).id(), second.id() + 1);
}

}  // namespace
}  // namespace millrace::conformance
