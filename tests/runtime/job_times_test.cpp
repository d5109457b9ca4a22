#include "runtime/jobs/job_times.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include "tests/runtime/session_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::runtime {
namespace {

class JobTimesTest : public GatedSession {
 protected:
  Result<SessionJobId> submit(Session& session, const std::shared_ptr<JobTimes>& times,
                              JobCallback callback = {}) {
    JobBindings bindings = memory_.bindings();
    bindings.times = times;
    return session.submit(bindings, std::move(callback));
  }
  std::unique_ptr<Session> one_lane() {
    return make_session({.max_concurrent_runs = 2, .max_lanes = 1});
  }

  const std::shared_ptr<JobTimes> first_ = std::make_shared<JobTimes>();
  const std::shared_ptr<JobTimes> second_ = std::make_shared<JobTimes>();
  const std::unique_ptr<Session> plain_ = make_session();
  JobMemory memory_{plain_->model()};
};

TEST_F(JobTimesTest, AJobStartsWhenTheOneBeforeHasEnded) {
  const std::unique_ptr<Session> session = one_lane();
  submit(*session, first_).value();
  const SessionJobId last = submit(*session, second_).value();
  EXPECT_EQ(second_->started(), 0);
  faults().release();
  ASSERT_TRUE(session->wait(last, kForever).ok());
  EXPECT_NE(first_->started(), 0);
  EXPECT_LE(first_->started(), first_->ended());
  EXPECT_LE(first_->ended(), second_->started());
  EXPECT_LE(second_->started(), second_->ended());
}

TEST_F(JobTimesTest, TheEndDoesNotWaitForTheCallback) {
  std::promise<void> go_on;
  std::atomic<bool> called{false};
  const std::unique_ptr<Session> session = one_lane();
  submit(*session, first_, [&](uint64_t, const Status&) { go_on.get_future().wait(); }).value();
  const SessionJobId last =
      submit(*session, second_, [&](uint64_t, const Status&) { called = true; }).value();
  faults().release();
  ASSERT_TRUE(session->wait(last, kForever).ok());
  EXPECT_NE(second_->ended(), 0);
  EXPECT_FALSE(called);
  go_on.set_value();
}

TEST_F(JobTimesTest, AJobThatNeverRanHasAnEndOnly) {
  const test::LogCapture log(LogLevel::kWarning);
  const std::unique_ptr<Session> session = one_lane();
  submit(*session, first_).value();
  const SessionJobId last = submit(*session, second_).value();
  faults().await_holds(1);
  std::thread closing([&] { session->close(); });
  // From this line on it is certain that the lane starts nothing more.
  log.await("the close of the unit waits");
  faults().release();
  EXPECT_EQ(session->wait(last, kForever).code(), StatusCode::kCancelled);
  EXPECT_EQ(second_->started(), 0);
  EXPECT_NE(second_->ended(), 0);
  closing.join();
}

TEST_F(JobTimesTest, AreWrittenBeforeExecuteReturns) {
  const std::unique_ptr<Session> session = one_lane();
  faults().release();
  JobBindings bindings = memory_.bindings();
  bindings.times = first_;
  ASSERT_TRUE(session->execute(bindings).ok());
  EXPECT_NE(first_->started(), 0);
  EXPECT_LE(first_->started(), first_->ended());
}

}  // namespace
}  // namespace millrace::runtime
