// execute computes the same bits as a lane whatever the caller's rounding, and restores it.
#include <cfenv>

#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(execute_float_environment) {
  Unit unit = make_unit();
  EXPECT_STATUS(submit(unit, 0).wait(kPatience), kOk);
  const std::vector<float> expected = memory(0).output();
  const int before = std::fegetround();
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_OVERFLOW);
    const Status executed = unit.execute(model(), args(0));
    const int after = std::fegetround();
    const bool overflow = std::fetestexcept(FE_OVERFLOW) != 0;
    std::fesetround(before);
    EXPECT_STATUS(executed, kOk);
    EXPECT_EQ(after, rounding);
    EXPECT_TRUE(overflow);
    EXPECT_EQ(memory(0).output(), expected);
  }
  std::feclearexcept(FE_ALL_EXCEPT);
}

}  // namespace
}  // namespace millrace::conformance
