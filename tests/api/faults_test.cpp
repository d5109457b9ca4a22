// Which jobs injected faults strike.
#include <gmock/gmock.h>

#include <array>
#include <vector>

#include "tests/api/native_fixture.h"

namespace millrace::test {
namespace {

using ::testing::ElementsAre;

class Faults : public NativeApi {
 protected:
  Faults() { faults().release(); }

  StatusCode execute(Unit& unit) { return unit.execute(model_, memory_.args()).code(); }
};

constexpr StatusCode kOk = StatusCode::kOk;
constexpr StatusCode kFailed = StatusCode::kDeviceFailed;

TEST_F(Faults, AreCountedOverTheUnitsOfADevice) {
  Unit first = make_unit({.auto_reset = true}), second = make_unit({.auto_reset = true});
  faults().fail_every(3);
  std::vector<StatusCode> codes;
  for (int i = 0; i < 3; ++i)
    for (Unit* unit : {&first, &second}) codes.push_back(execute(*unit));
  EXPECT_THAT(codes, ElementsAre(kOk, kOk, kFailed, kOk, kOk, kFailed));
}

TEST_F(Faults, StrikeInTheOrderOfAcceptanceWhateverArrivesFirst) {
  faults().hold();
  faults().fail_nth(2, internal_error("the mill stopped"));
  Unit first = make_unit(), second = make_unit();
  Job one = submit_started(first, 1), two = submit(first), three = submit_started(second, 2);
  faults().release();
  EXPECT_TRUE(one.wait().ok());
  EXPECT_EQ(two.wait().code(), StatusCode::kInternal) << "it arrives last";
  EXPECT_TRUE(three.wait().ok());
}

TEST_F(Faults, OfACancelledJobStrikeNoOther) {
  faults().hold();
  faults().fail_nth(2);
  faults().fail_nth(4, internal_error("the mill stopped"));
  Unit unit = make_unit({.depth = 4});
  Job running = submit_started(unit), cancelled = submit(unit);
  Job third = submit(unit), fourth = submit(unit);
  EXPECT_EQ(cancelled.cancel(kForever).value(), CancelOutcome::kRemoved);
  faults().release();
  EXPECT_TRUE(running.wait().ok());
  EXPECT_TRUE(third.wait().ok());
  EXPECT_EQ(fourth.wait().code(), StatusCode::kInternal);
}

TEST_F(Faults, CountEveryJobOfAGroup) {
  faults().fail_nth(3, internal_error("the mill stopped"));
  Unit unit = make_unit({.depth = 4});
  const std::vector<JobArgs> args(4, memory_.args());
  std::array<Job, 4> jobs;
  ASSERT_EQ(unit.try_submit_n(model_, args, jobs).value(), 4u);
  std::vector<StatusCode> codes;
  for (Job& job : jobs) codes.push_back(job.wait().code());
  EXPECT_THAT(codes, ElementsAre(kOk, kOk, StatusCode::kInternal, kOk));
}

TEST_F(Faults, LeaveOutJobsThatAreRefused) {
  faults().hold();
  faults().fail_nth(2, internal_error("the mill stopped"));
  Unit unit = make_unit({.depth = 1});
  Job running = submit_started(unit);
  EXPECT_EQ(unit.submit(model_, memory_.args()).status().code(), StatusCode::kQueueFull);
  faults().release();
  EXPECT_TRUE(running.wait().ok());
  EXPECT_EQ(execute(unit), StatusCode::kInternal);
}

}  // namespace
}  // namespace millrace::test
