// Closing a session with jobs in flight.
#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>

#include "tests/runtime/session_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::runtime {
namespace {

class SessionDestroy : public GatedSession {};

TEST_F(SessionDestroy, FinishesRunningJobsCancelsTheOthersAndCallsBack) {
  std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 6});
  JobMemory memory(session->model());
  std::atomic<int> finished{0}, cancelled{0};
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(session
                    ->submit(memory.bindings(),
                             [&](SessionJobId, const Status& status) {
                               ++(status.code() == StatusCode::kCancelled ? cancelled : finished);
                             })
                    .ok());
  }
  faults().await_arrivals(2);
  std::thread closer([&] { session.reset(); });
  faults().release();
  closer.join();
  EXPECT_GE(finished, 2) << "both lanes had started a job";
  EXPECT_EQ(finished + cancelled, 6) << "every callback is delivered before the destructor returns";
}

// Three units on two lanes: the last job waits for a lane, not for the unit that closes first.
TEST_F(SessionDestroy, NoJobStartsWhileTheCloseWaitsForAnother) {
  const test::LogCapture log(LogLevel::kWarning);
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 3});
  JobMemory memory(session->model());
  SessionJobId id = 0;
  for (int i = 0; i < 3; ++i) id = session->submit(memory.bindings()).value();
  faults().await_holds(2);
  std::thread closer([&] { session->close(); });
  log.await("the close of the unit waits");
  EXPECT_EQ(session->execute(memory.bindings()).code(), StatusCode::kClosed);
  faults().release();
  EXPECT_EQ(session->wait(id, kForever).code(), StatusCode::kCancelled);
  closer.join();
}

TEST_F(SessionDestroy, AfterBeginCloseNoJobStarts) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 3});
  JobMemory memory(session->model());
  std::vector<SessionJobId> jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(session->submit(memory.bindings()).value());
  faults().await_holds(2);
  session->begin_close();
  EXPECT_EQ(session->submit(memory.bindings()).status().code(), StatusCode::kClosed);
  EXPECT_EQ(session->execute(memory.bindings()).code(), StatusCode::kClosed);
  EXPECT_EQ(session->wait(jobs[0], kPoll).code(), StatusCode::kPending) << "it goes on";
  faults().release();
  session->close();
  std::vector<StatusCode> codes;
  for (const SessionJobId job : jobs) codes.push_back(session->wait(job, kForever).code());
  EXPECT_THAT(codes,
              ::testing::ElementsAre(StatusCode::kOk, StatusCode::kOk, StatusCode::kCancelled));
}

TEST_F(SessionDestroy, AClosedSessionTakesNoJobsAndKeepsItsResults) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 1});
  JobMemory memory(session->model());
  faults().release();
  const Result<SessionJobId> before = session->submit(memory.bindings());
  ASSERT_TRUE(before.ok());
  ASSERT_TRUE(session->execute(memory.bindings()).ok()) << "its turn comes after the job";
  session->close();
  session->close();
  EXPECT_EQ(session->submit(memory.bindings()).status().code(), StatusCode::kClosed);
  EXPECT_EQ(session->execute(memory.bindings()).code(), StatusCode::kClosed);
  EXPECT_TRUE(session->wait(*before, kForever).ok());
  EXPECT_EQ(session->accepted_jobs(), 2u);
}

TEST_F(SessionDestroy, MayHappenInACallback) {
  std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  std::promise<void> closed, second_called;
  ASSERT_TRUE(session
                  ->submit(memory.bindings(),
                           [&](SessionJobId, const Status&) {
                             session.reset();
                             closed.set_value();
                           })
                  .ok());
  ASSERT_TRUE(session
                  ->submit(memory.bindings(),
                           [&](SessionJobId, const Status&) { second_called.set_value(); })
                  .ok());
  faults().release();
  closed.get_future().get();
  second_called.get_future().get();
  EXPECT_EQ(session, nullptr);
}

TEST_F(SessionDestroy, DropsReferencesToTensors) {
  std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 4});
  JobMemory memory(session->model());
  const std::weak_ptr<const void> input = memory.inputs()[0].owner;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(session->submit(memory.bindings()).ok());
  memory.inputs()[0].owner.reset();
  EXPECT_FALSE(input.expired()) << "the jobs keep their memory";
  faults().release();
  session.reset();
  EXPECT_TRUE(input.expired());
}

TEST_F(SessionDestroy, LeavesOtherSessionsOfTheProgramAlone) {
  const std::shared_ptr<const device::Program> program =
      device_->load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value();
  std::unique_ptr<Session> first = Session::create(device_, program).value();
  std::unique_ptr<Session> second = Session::create(device_, program).value();
  JobMemory memory(first->model());
  faults().release();
  EXPECT_TRUE(first->execute(memory.bindings()).ok());
  EXPECT_TRUE(second->execute(memory.bindings()).ok());
  first.reset();
  EXPECT_TRUE(second->execute(memory.bindings()).ok());
}

TEST_F(SessionDestroy, HappensAHundredTimesUnderLoad) {
  faults().release();
  for (int round = 0; round < 100; ++round) {
    std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 4});
    JobMemory memory(session->model());
    std::atomic<int> called{0};
    int submitted = 0;
    for (int i = 0; i < 20; ++i)
      submitted +=
          session->submit(memory.bindings(), [&](SessionJobId, const Status&) { ++called; }).ok();
    session.reset();
    ASSERT_EQ(called, submitted);
  }
}

TEST_F(SessionDestroy, CloseLetsWaitersReturn) {
  std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 6});
  JobMemory memory(session->model());
  std::vector<SessionJobId> jobs;
  for (int i = 0; i < 6; ++i) jobs.push_back(session->submit(memory.bindings()).value());
  faults().await_arrivals(2);
  std::vector<StatusCode> codes(jobs.size());
  std::vector<std::thread> waiters;
  for (size_t i = 0; i < jobs.size(); ++i)
    waiters.emplace_back(
        [&, i] { codes[i] = session->wait(jobs[i], std::chrono::minutes(5)).code(); });
  std::thread closer([&] { session->close(); });
  faults().release();
  for (std::thread& waiter : waiters) waiter.join();
  closer.join();
  EXPECT_THAT(codes, ::testing::Each(::testing::AnyOf(StatusCode::kOk, StatusCode::kCancelled)));
}

// One job may run on the caller's thread while others are queued behind it, or be refused there.
TEST_F(SessionDestroy, ThreadsThatExecuteReturn) {
  faults().release();
  for (int round = 0; round < 100; ++round) {
    const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 2});
    std::vector<std::thread> threads;
    std::atomic<int> executed{0};
    std::vector<StatusCode> last(3, StatusCode::kOk);
    for (StatusCode& code : last)
      threads.emplace_back([&] {
        JobMemory memory(session->model());
        for (; code == StatusCode::kOk; ++executed)
          code = session->execute(memory.bindings()).code();
      });
    while (executed < round) std::this_thread::yield();
    session->close();
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(last,
                ::testing::Each(::testing::AnyOf(StatusCode::kClosed, StatusCode::kCancelled)));
  }
}

}  // namespace
}  // namespace millrace::runtime
