// A job writes what the model computes, for every frame, and nothing else.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(jobs_compute, Tag::kComputes) {
  Unit unit = make_unit();
  Job one = submit(unit, args(0, 1));
  Job all = submit(unit, args(1, kBatchSize));
  EXPECT_STATUS(one.wait(kPatience), kOk);
  EXPECT_STATUS(all.wait(kPatience), kOk);
  EXPECT_TRUE(memory(0).is_computed());
  EXPECT_TRUE(memory(1).is_computed());
}

}  // namespace
}  // namespace millrace::conformance
