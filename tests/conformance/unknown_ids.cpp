// A unit knows no job of an id that it never issued.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(unknown_ids) {
  Unit unit = make_unit(), other = make_unit();
  Job job = submit(unit), elsewhere = submit(other, 1);
  EXPECT_STATUS(job.wait(kPatience), kOk);
  EXPECT_STATUS(elsewhere.wait(kPatience), kOk);
  EXPECT_TRUE(unit.is_completed(job.id()));
  for (const JobId unknown : {JobId{0}, job.id() - 1, job.id() + 1, elsewhere.id(), ~JobId{0}})
    EXPECT_FALSE(unit.is_completed(unknown)) << unknown;
}

}  // namespace
}  // namespace millrace::conformance
