// Jobs that do not end by themselves: cancelled, past their deadline, or displaced by newer ones.
#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <thread>

#include "tests/api/native_fixture.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

class Removal : public NativeApi {
 protected:
  static Deadline passed() { return std::chrono::steady_clock::now() - std::chrono::seconds(1); }
};

TEST_F(Removal, CancelRemovesAJobThatWaits) {
  Unit unit = make_unit();
  Job running = submit_started(unit), waiting = submit(unit);
  EXPECT_EQ(waiting.cancel(kForever).value(), CancelOutcome::kRemoved);
  EXPECT_TRUE(waiting.is_completed());
  EXPECT_EQ(unit.in_flight(), 1u) << "its place is free";
  EXPECT_EQ(waiting.wait(kPoll).code(), StatusCode::kCancelled);
  faults().release();
  EXPECT_TRUE(running.wait().ok());
  EXPECT_EQ(faults().arrivals(), 1u);
}

TEST_F(Removal, CancelStopsAJobThatRuns) {
  Unit unit = make_unit();
  Job running = submit_started(unit);
  EXPECT_EQ(running.cancel(kForever).value(), CancelOutcome::kStopped);
  const Status status = running.wait();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_THAT(status.message(), HasSubstr("undefined"));
}

TEST_F(Removal, CancelOfACompletedJobIsTooLate) {
  faults().release();
  Unit unit = make_unit();
  Job job = submit(unit);
  ASSERT_TRUE(unit.wait_free(unit.depth(), kForever).ok());
  EXPECT_EQ(job.cancel(kForever).value(), CancelOutcome::kTooLate);
  EXPECT_TRUE(job.wait().ok());
}

TEST_F(Removal, CancelOfAJobThatHangsIsPending) {
  faults().release();
  faults().hang_nth(1);
  Unit unit = make_unit();
  Job job = submit(unit);
  faults().await_hangs(1);
  EXPECT_EQ(job.cancel(std::chrono::milliseconds(1)).status().code(), StatusCode::kPending);
  faults().end_hangs();
  const StatusCode code = job.wait().code();
  EXPECT_TRUE(code == StatusCode::kOk || code == StatusCode::kCancelled) << to_string(code);
}

TEST_F(Removal, ADeadlineEndsAJobThatWaits) {
  Unit unit = make_unit();
  Job running = submit_started(unit);
  Job late = unit.submit(model_, memory_.args({}, std::chrono::steady_clock::now() +
                                                      std::chrono::milliseconds(5)))
                 .value();
  EXPECT_EQ(late.wait().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(unit.in_flight(), 1u) << "its place is free";
  faults().release();
  EXPECT_TRUE(running.wait().ok());
}

TEST_F(Removal, ADeadlineEndsAJobBetweenTwoPiecesOfItsWork) {
  Unit unit = make_unit();
  Job job = unit.submit(model_, memory_.args({}, std::chrono::steady_clock::now() +
                                                     std::chrono::milliseconds(5)))
                .value();
  EXPECT_EQ(job.wait().code(), StatusCode::kDeadlineExceeded);
}

TEST_F(Removal, ADeadlineThatHasPassedRunsNothing) {
  faults().release();
  Unit unit = make_unit();
  const Status executed = unit.execute(model_, memory_.args({}, passed()));
  EXPECT_EQ(executed.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(faults().arrivals(), 0u);
}

TEST_F(Removal, AFullUnitRefuses) {
  Unit unit = make_unit({.depth = 1});
  Job running = submit_started(unit);
  bool called = false;
  const Result<Job> refused =
      unit.submit(model_, memory_.args([&](JobId, const Status&) { called = true; }));
  EXPECT_EQ(refused.status().code(), StatusCode::kQueueFull);
  EXPECT_EQ(unit.try_submit(model_, memory_.args()).status().code(), StatusCode::kQueueFull);
  EXPECT_EQ(unit.submit_until(passed(), model_, memory_.args()).status().code(),
            StatusCode::kQueueFull);
  EXPECT_EQ(unit.last_submitted(), running.id()) << "nothing has changed";
  faults().release();
  EXPECT_TRUE(running.wait().ok());
  unit.close();
  EXPECT_FALSE(called);
}

TEST_F(Removal, AFullUnitMayBlock) {
  Unit unit = make_unit({.depth = 1, .when_full = WhenFull::kBlock});
  Job running = submit_started(unit);
  EXPECT_EQ(unit.submit(model_, memory_.args({}, std::chrono::steady_clock::now() +
                                                     std::chrono::milliseconds(1)))
                .status()
                .code(),
            StatusCode::kDeadlineExceeded);
  EXPECT_EQ(unit.try_submit(model_, memory_.args()).status().code(), StatusCode::kQueueFull);
  std::thread releaser([&] { faults().release(); });
  Job next = submit(unit);
  EXPECT_TRUE(running.is_completed());
  EXPECT_TRUE(next.wait().ok());
  releaser.join();
}

TEST_F(Removal, AFullUnitMayDropTheOldest) {
  Unit unit = make_unit({.depth = 2, .when_full = WhenFull::kDropOldest});
  Job running = submit_started(unit), waiting = submit(unit), newest = submit(unit);
  EXPECT_EQ(waiting.wait(kPoll).code(), StatusCode::kDropped);
  EXPECT_FALSE(running.is_completed());
  faults().release();
  EXPECT_TRUE(running.wait().ok());
  EXPECT_TRUE(newest.wait().ok());
}

}  // namespace
}  // namespace millrace::test
