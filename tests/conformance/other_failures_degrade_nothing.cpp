// A job that fails for reasons of its own leaves its unit in service.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(other_failures_degrade_nothing, Tag::kInjects) {
  Unit unit = make_unit({.depth = 4});
  const uint32_t generation = unit.generation();
  faults().fail_nth(1, {StatusCode::kOutOfMemory, "no memory for this one"});
  EXPECT_STATUS(submit(unit, 0).wait(kPatience), kOutOfMemory);
  EXPECT_EQ(unit.state(), UnitState::kHealthy);
  EXPECT_EQ(unit.generation(), generation);
  EXPECT_STATUS(submit(unit, 1).wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
