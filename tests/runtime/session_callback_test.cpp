#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <mutex>
#include <stdexcept>

#include "tests/runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

// Remembers callbacks in the order they came, and lets a test wait for them.
class Calls {
 public:
  JobCallback callback() {
    return [this](SessionJobId id, const Status& status) {
      const std::lock_guard lock(mutex_);
      ids_.push_back(id);
      codes_.push_back(status.code());
      changed_.notify_all();
    };
  }
  std::vector<SessionJobId> await(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ids_.size() >= count; });
    return ids_;
  }
  std::vector<StatusCode> codes() {
    const std::lock_guard lock(mutex_);
    return codes_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<SessionJobId> ids_;
  std::vector<StatusCode> codes_;
};

class SessionCallback : public GatedSession {
 protected:
  // Runs two jobs of which the second completes before the first, and returns the order of their
  // callbacks: first is the batch of two frames, second that of one.
  std::vector<SessionJobId> overtake(Session& session, Calls& calls, SessionJobId& first,
                                     SessionJobId& second) {
    JobMemory long_job(session.model(), 2), short_job(session.model(), 1);
    first = session.submit(long_job.bindings(), calls.callback()).value();
    faults().await_arrivals(1);
    second = session.submit(short_job.bindings(), calls.callback()).value();
    faults().await_arrivals(2);
    // The first frame of each passes; the second frame of the long job then arrives.
    faults().let_through(2);
    faults().await_arrivals(3);
    EXPECT_TRUE(session.wait(second, kForever).ok());
    EXPECT_EQ(session.wait(first, kPoll).code(), StatusCode::kPending);
    faults().release();
    EXPECT_TRUE(session.wait(first, kForever).ok());
    return calls.await(2);
  }
};

TEST_F(SessionCallback, GetsTheIdAndTheFinalStatus) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  Calls calls;
  faults().fail_all(internal_error("the mill stopped"));
  faults().release();
  const SessionJobId id = session->submit(memory.bindings(), calls.callback()).value();
  EXPECT_THAT(calls.await(1), ElementsAre(id));
  EXPECT_THAT(calls.codes(), ElementsAre(StatusCode::kInternal));
  EXPECT_EQ(session->wait(id, kForever).code(), StatusCode::kInternal)
      << "a job with a callback can be collected as well";
}

TEST_F(SessionCallback, SubmissionOrderHoldsWhenLaterJobsFinishFirst) {
  const std::unique_ptr<Session> session =
      make_session({.callback_order = CallbackOrder::kSubmission}, {.batch_size = 2});
  Calls calls;
  SessionJobId first = 0, second = 0;
  const std::vector<SessionJobId> order = overtake(*session, calls, first, second);
  EXPECT_THAT(order, ElementsAre(first, second));
}

TEST_F(SessionCallback, CompletionOrderTellsWhoFinishedFirst) {
  const std::unique_ptr<Session> session =
      make_session({.callback_order = CallbackOrder::kCompletion}, {.batch_size = 2});
  Calls calls;
  SessionJobId first = 0, second = 0;
  const std::vector<SessionJobId> order = overtake(*session, calls, first, second);
  EXPECT_THAT(order, ElementsAre(second, first));
}

TEST_F(SessionCallback, JobsWithoutACallbackDelayNoOther) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 2});
  JobMemory memory(session->model(), 1);
  Calls calls;
  const SessionJobId silent = session->submit(memory.bindings()).value();
  faults().await_arrivals(1);
  const SessionJobId loud = session->submit(memory.bindings(), calls.callback()).value();
  faults().await_arrivals(2);
  faults().release();
  EXPECT_THAT(calls.await(1), ElementsAre(loud));
  EXPECT_TRUE(session->wait(silent, kForever).ok());
}

TEST_F(SessionCallback, ManyJobsCallBackInOrderOfSubmission) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 8});
  JobMemory memory(session->model());
  Calls calls;
  std::vector<SessionJobId> submitted;
  faults().release();
  while (submitted.size() < 2000) {
    const Result<SessionJobId> id = session->submit(memory.bindings(), calls.callback());
    if (id.ok()) submitted.push_back(*id);
  }
  EXPECT_THAT(calls.await(submitted.size()), ElementsAreArray(submitted));
}

TEST_F(SessionCallback, MaySubmitTheNextJobBecauseItsOwnSlotIsFree) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 1});
  JobMemory memory(session->model());
  faults().release();
  constexpr int kChain = 200;
  std::atomic<int> left{kChain};
  std::promise<void> finished;
  std::function<void(SessionJobId, const Status&)> next = [&](SessionJobId, const Status& status) {
    ASSERT_TRUE(status.ok());
    if (--left == 0) return finished.set_value();
    const Result<SessionJobId> id = session->submit(memory.bindings(), next);
    ASSERT_TRUE(id.ok()) << id.status().to_string();
  };
  ASSERT_TRUE(session->submit(memory.bindings(), next).ok());
  finished.get_future().get();
  EXPECT_EQ(left, 0);
}

TEST_F(SessionCallback, MayRunAJobToItsEnd) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  faults().release();
  std::promise<Status> executed;
  ASSERT_TRUE(session
                  ->submit(memory.bindings(),
                           [&](SessionJobId, const Status&) {
                             executed.set_value(session->execute(memory.bindings()));
                           })
                  .ok());
  EXPECT_TRUE(executed.get_future().get().ok());
}

TEST_F(SessionCallback, ThatThrowsHasNoEffect) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  Calls calls;
  faults().release();
  const JobCallback throwing = [](SessionJobId, const Status&) { throw std::runtime_error("no"); };
  ASSERT_TRUE(session->submit(memory.bindings(), throwing).ok());
  const SessionJobId id = [&] {
    for (;;) {
      const Result<SessionJobId> next = session->submit(memory.bindings(), calls.callback());
      if (next.ok()) return *next;
    }
  }();
  EXPECT_THAT(calls.await(1), ElementsAre(id));
}

}  // namespace
}  // namespace millrace::runtime
