#include "runtime/session.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/hooks.h"
#include "tests/runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class SessionTest : public GatedSession {};

TEST_F(SessionTest, AcceptsAsManyJobsAsItMayHoldAndRefusesTheNext) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 2});
  JobMemory first(session->model()), second(session->model()), third(session->model());
  const SessionJobId first_id = session->submit(first.bindings()).value();
  const SessionJobId second_id = session->submit(second.bindings()).value();
  EXPECT_EQ(session->submit(third.bindings()).status().code(), StatusCode::kQueueFull);
  EXPECT_EQ(session->wait(first_id, kPoll).code(), StatusCode::kPending);

  faults().release();
  EXPECT_TRUE(session->wait(first_id, kForever).ok());
  EXPECT_TRUE(session->wait(second_id, kForever).ok());
}

TEST_F(SessionTest, ARefusedJobUsesNoId) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 1});
  JobMemory memory(session->model());
  const SessionJobId first = session->submit(memory.bindings()).value();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(session->submit(memory.bindings()).status().code(), StatusCode::kQueueFull);
    EXPECT_EQ(
        session
            ->submit(memory.bindings(),
                     [](SessionJobId, const Status&) { ADD_FAILURE() << "the job was refused"; })
            .status()
            .code(),
        StatusCode::kQueueFull);
  }
  faults().release();
  EXPECT_TRUE(session->wait(first, kForever).ok());
  std::promise<SessionJobId> called;
  const SessionJobId second =
      session
          ->submit(memory.bindings(), [&](SessionJobId id, const Status&) { called.set_value(id); })
          .value();
  EXPECT_EQ(second, first + 1);
  EXPECT_EQ(called.get_future().get(), second);
}

TEST_F(SessionTest, ASlotIsFreeAsSoonAsWaitReturns) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 1});
  JobMemory memory(session->model());
  faults().release();
  for (int round = 0; round < 1000; ++round) {
    const Result<SessionJobId> id = session->submit(memory.bindings());
    ASSERT_TRUE(id.ok()) << "round " << round << ": " << id.status().to_string();
    ASSERT_TRUE(session->wait(*id, kForever).ok());
  }
}

TEST_F(SessionTest, ASlotIsFreeBeforeTheJobIsCollected) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 1});
  JobMemory memory(session->model());
  faults().release();
  const SessionJobId first = session->submit(memory.bindings()).value();
  ASSERT_TRUE(session->execute(memory.bindings()).ok());  // returns only when the first is done
  const Result<SessionJobId> second = session->submit(memory.bindings());
  ASSERT_TRUE(second.ok()) << second.status().to_string();
  EXPECT_TRUE(session->wait(first, kForever).ok());
  EXPECT_TRUE(session->wait(*second, kForever).ok());
}

TEST_F(SessionTest, TwoJobsOfOneProgramRunAtTheSameTime) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory first(session->model()), second(session->model());
  const SessionJobId first_id = session->submit(first.bindings()).value();
  const SessionJobId second_id = session->submit(second.bindings()).value();
  faults().await_arrivals(2);
  EXPECT_EQ(faults().most_at_once(), 2u);
  faults().release();
  EXPECT_TRUE(session->wait(first_id, kForever).ok());
  EXPECT_TRUE(session->wait(second_id, kForever).ok());
}

TEST_F(SessionTest, AJobStaysCollectableAfterATimeout) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  const SessionJobId id = session->submit(memory.bindings()).value();
  EXPECT_EQ(session->wait(id, std::chrono::milliseconds(1)).code(), StatusCode::kPending);
  EXPECT_EQ(session->wait(id, std::chrono::milliseconds(-5)).code(), StatusCode::kPending);
  EXPECT_EQ(session->wait(id, std::chrono::milliseconds::min()).code(), StatusCode::kPending);
  faults().release();
  EXPECT_TRUE(session->wait(id, kForever).ok());
}

TEST_F(SessionTest, AResultIsCollectedOnce) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  faults().release();
  const SessionJobId id = session->submit(memory.bindings()).value();
  EXPECT_TRUE(session->wait(id, kForever).ok());
  EXPECT_EQ(session->wait(id, kForever).code(), StatusCode::kInvalidJobId);
}

TEST_F(SessionTest, IdsNeverIssuedAreUnknown) {
  const std::unique_ptr<Session> session = make_session();
  EXPECT_EQ(session->wait(0, kForever).code(), StatusCode::kInvalidJobId);
  EXPECT_EQ(session->wait(1, kForever).code(), StatusCode::kInvalidJobId);
  EXPECT_EQ(session->wait(0xffffffffu, kPoll).code(), StatusCode::kInvalidJobId);
}

TEST_F(SessionTest, ResultsMayBeCollectedOutOfOrderAndByOtherThreads) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory first(session->model()), second(session->model());
  const SessionJobId first_id = session->submit(first.bindings()).value();
  const SessionJobId second_id = session->submit(second.bindings()).value();
  std::future<Status> other =
      std::async(std::launch::async, [&] { return session->wait(second_id, kForever); });
  faults().release();
  EXPECT_TRUE(other.get().ok());
  EXPECT_TRUE(session->wait(first_id, kForever).ok());
}

TEST_F(SessionTest, OfTwoWaitersForOneJobOneGetsTheResult) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  const SessionJobId id = session->submit(memory.bindings()).value();
  const auto wait = [&] { return session->wait(id, kForever).code(); };
  std::future<StatusCode> first = std::async(std::launch::async, wait);
  std::future<StatusCode> second = std::async(std::launch::async, wait);
  faults().await_arrivals(1);
  faults().release();
  const std::multiset<StatusCode> seen = {first.get(), second.get()};
  EXPECT_EQ(seen, (std::multiset<StatusCode>{StatusCode::kOk, StatusCode::kInvalidJobId}));
}

TEST_F(SessionTest, AJobThatFailsReportsItsStatus) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  faults().fail_all(internal_error("the mill stopped"));
  faults().release();
  const SessionJobId id = session->submit(memory.bindings()).value();
  const Status status = session->wait(id, kForever);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("the mill stopped"));
  faults().heal();
  EXPECT_TRUE(session->execute(memory.bindings()).ok()) << "a failed job spoils no other";
}

TEST_F(SessionTest, ExecuteWaitsForRoomAndNeverRefuses) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 1});
  JobMemory held(session->model()), waiting(session->model());
  const SessionJobId id = session->submit(held.bindings()).value();
  std::future<Status> executed =
      std::async(std::launch::async, [&] { return session->execute(waiting.bindings()); });
  faults().await_arrivals(1);
  EXPECT_EQ(executed.wait_for(std::chrono::milliseconds(1)), std::future_status::timeout);
  faults().release();
  EXPECT_TRUE(executed.get().ok());
  EXPECT_TRUE(session->wait(id, kForever).ok());
}

TEST_F(SessionTest, ExecuteRunsOnTheCallersThreadWhileALaneIsFree) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  faults().release();
  struct {
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> here{0};
  } seen;
  const HookFunction note = [](void* observer, const HookEvent& event) noexcept {
    auto& it = *static_cast<decltype(seen)*>(observer);
    if (event.point == HookPoint::kStarted && std::this_thread::get_id() == it.caller) ++it.here;
  };
  ASSERT_TRUE(add_hook(note, &seen));
  while (seen.here == 0) {  // a lane that is just starting, or still looks for work, is not free
    EXPECT_TRUE(session->execute(memory.bindings()).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  remove_hook(note, &seen);
}

TEST_F(SessionTest, TwoThreadsThatExecuteDoNotWaitForEachOther) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory first(session->model()), second(session->model());
  std::future<Status> other =
      std::async(std::launch::async, [&] { return session->execute(first.bindings()); });
  faults().await_arrivals(1);
  std::thread releaser([&] {
    faults().await_arrivals(2);
    faults().release();
  });
  EXPECT_TRUE(session->execute(second.bindings()).ok());
  EXPECT_TRUE(other.get().ok());
  releaser.join();
  EXPECT_EQ(faults().most_at_once(), 2u);
}

TEST_F(SessionTest, APlaceIsFreeAsSoonAsExecuteReturns) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 1});
  JobMemory memory(session->model());
  faults().release();
  for (int round = 0; round < 1000; ++round) {
    ASSERT_TRUE(session->execute(memory.bindings()).ok());
    const Result<SessionJobId> id = session->submit(memory.bindings());
    ASSERT_TRUE(id.ok()) << "round " << round << ": " << id.status().to_string();
    ASSERT_TRUE(session->wait(*id, kForever).ok());
  }
}

TEST_F(SessionTest, ADeviceThatFailsOnceSpoilsNoLaterJob) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 1});
  JobMemory memory(session->model());
  faults().fail_nth(1);
  faults().release();
  const SessionJobId failed = session->submit(memory.bindings()).value();
  EXPECT_EQ(session->wait(failed, kForever).code(), StatusCode::kDeviceFailed);
  EXPECT_TRUE(session->execute(memory.bindings()).ok());
  const SessionJobId later = session->submit(memory.bindings()).value();
  EXPECT_TRUE(session->wait(later, kForever).ok());
}

// Two lanes and the four threads that replace hung ones are lost.
TEST_F(SessionTest, GoesOnWhenLanesComeBackThatHadAllHung) {
  const std::unique_ptr<Session> session =
      make_session({.watchdog = std::chrono::milliseconds(20)});
  JobMemory memory(session->model());
  faults().release();
  faults().apply({.rates = {.hang = 1}});
  for (int i = 0; i < 6; ++i) {
    const Result<SessionJobId> id = session->submit(memory.bindings());
    ASSERT_TRUE(id.ok()) << id.status().to_string();
    EXPECT_EQ(session->wait(*id, kForever).code(), StatusCode::kHung);
  }
  EXPECT_EQ(session->execute(memory.bindings()).code(), StatusCode::kUnitDegraded);
  faults().heal();
  faults().end_hangs();
  Status status;
  do {
    std::this_thread::yield();
    status = session->execute(memory.bindings());
  } while (status.code() == StatusCode::kUnitDegraded);
  EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST_F(SessionTest, ReportsWhichJobAnUnsuccessfulWaitWasFor) {
  struct Seen {
    std::mutex mutex;
    std::vector<HookEvent> events;
  } seen;
  const HookFunction record = [](void* observer, const HookEvent& event) noexcept {
    auto& all = *static_cast<Seen*>(observer);
    const std::lock_guard lock(all.mutex);
    if (event.point == HookPoint::kSubmitted || event.point == HookPoint::kWaited)
      all.events.push_back(event);
  };
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  ASSERT_TRUE(add_hook(record, &seen));
  const SessionJobId id = session->submit(memory.bindings()).value();
  EXPECT_EQ(session->wait(id, kPoll).code(), StatusCode::kPending);
  remove_hook(record, &seen);
  faults().release();
  EXPECT_TRUE(session->wait(id, kForever).ok());
  ASSERT_EQ(seen.events.size(), 2u);
  EXPECT_EQ(seen.events[1].point, HookPoint::kWaited);
  EXPECT_EQ(seen.events[1].subject, seen.events[0].subject);
  EXPECT_EQ(seen.events[1].detail, static_cast<uint64_t>(StatusCode::kPending));
}

TEST_F(SessionTest, FramesOfABatchRunOneAfterAnother) {
  const std::unique_ptr<Session> session = make_session({}, {.batch_size = 4});
  JobMemory memory(session->model(), 3);
  for (uint8_t frame = 0; frame < 3; ++frame) memory.input(frame)[0] = 10 * frame;
  faults().release();
  ASSERT_TRUE(session->execute(memory.bindings()).ok());
  EXPECT_EQ(faults().arrivals(), 3u);
  EXPECT_EQ(faults().most_at_once(), 1u);
  for (uint8_t frame = 0; frame < 3; ++frame) EXPECT_EQ(memory.output(frame)[0], 10 * frame + 1);
}

TEST_F(SessionTest, ABatchEndsAtTheFrameThatFails) {
  const std::unique_ptr<Session> session = make_session({}, {.batch_size = 4});
  JobMemory memory(session->model(), 4);
  faults().fail_all(internal_error("the mill stopped"));
  faults().release();
  EXPECT_EQ(session->execute(memory.bindings()).code(), StatusCode::kInternal);
  EXPECT_EQ(faults().arrivals(), 1u);
}

// They are dropped last, when a waiting thread may already have returned.
TEST_F(SessionTest, ReferencesToTensorsAreDroppedOnceTheJobIsComplete) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  std::promise<void> dropped;
  std::shared_ptr<const void> memory_owner = memory.inputs()[0].owner;
  memory.inputs()[0].owner =
      std::shared_ptr<const void>(memory_owner.get(), [&](const void*) { dropped.set_value(); });
  const SessionJobId id = session->submit(memory.bindings()).value();
  memory.inputs()[0].owner.reset();
  faults().await_arrivals(1);
  std::future<void> was_dropped = dropped.get_future();
  EXPECT_EQ(was_dropped.wait_for(std::chrono::seconds(0)), std::future_status::timeout)
      << "the job in flight keeps its tensors";
  faults().release();
  ASSERT_TRUE(session->wait(id, kForever).ok());
  was_dropped.get();
}

TEST_F(SessionTest, RefusesOptionsOutOfRange) {
  const std::shared_ptr<const device::Program> program =
      device_->load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value();
  for (const uint32_t runs : {0u, kMaxConcurrentRuns + 1}) {
    const Status status = Session::create(device_, program, {.max_concurrent_runs = runs}).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << runs;
    EXPECT_THAT(status.message(), HasSubstr("max_concurrent_runs"));
  }
  EXPECT_EQ(Session::create(nullptr, program).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(SessionTest, HoldsManyMoreJobsThanThereAreLanes) {
  constexpr uint32_t kJobs = 1000;
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = kJobs});
  JobMemory memory(session->model());
  std::set<SessionJobId> ids;
  for (uint32_t i = 0; i < kJobs; ++i) ids.insert(session->submit(memory.bindings()).value());
  EXPECT_EQ(session->submit(memory.bindings()).status().code(), StatusCode::kQueueFull);
  EXPECT_EQ(ids.size(), kJobs);
  faults().release();
  for (const SessionJobId id : ids) EXPECT_TRUE(session->wait(id, kForever).ok());
}

}  // namespace
}  // namespace millrace::runtime
