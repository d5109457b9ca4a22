// A unit's depth is 1 to 65,536.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(depth_bounds) {
  for (const uint32_t depth : {0u, Unit::kMaxDepth + 1})
    EXPECT_STATUS(device().create_unit({.depth = depth}).status(), kInvalidArgument);
  Unit smallest = make_unit({.name = "smallest", .depth = 1});
  EXPECT_EQ(smallest.depth(), 1u);
  EXPECT_EQ(smallest.name(), "smallest");
  EXPECT_STATUS(smallest.execute(model(), args()), kOk);
  EXPECT_STATUS(submit(smallest).wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
