#include "runtime/session.h"

#include <gmock/gmock.h>

#include <future>
#include <set>
#include <thread>

#include "tests/runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class SessionTest : public GatedSession {};

TEST_F(SessionTest, AcceptsAsManyJobsAsItMayHoldAndRefusesTheNext) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 2});
  JobMemory first(session->model()), second(session->model()), third(session->model());
  const JobId first_id = session->submit(first.bindings()).value();
  const JobId second_id = session->submit(second.bindings()).value();
  EXPECT_EQ(session->submit(third.bindings()).status().code(), StatusCode::kQueueFull);
  EXPECT_EQ(session->wait(first_id, kPoll).code(), StatusCode::kPending);

  gate_->open();
  EXPECT_TRUE(session->wait(first_id, kForever).ok());
  EXPECT_TRUE(session->wait(second_id, kForever).ok());
}

TEST_F(SessionTest, ASlotIsFreeAsSoonAsWaitReturns) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 1});
  JobMemory memory(session->model());
  gate_->open();
  for (int round = 0; round < 1000; ++round) {
    const Result<JobId> id = session->submit(memory.bindings());
    ASSERT_TRUE(id.ok()) << "round " << round << ": " << id.status().to_string();
    ASSERT_TRUE(session->wait(*id, kForever).ok());
  }
}

TEST_F(SessionTest, ASlotIsFreeBeforeTheJobIsCollected) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 1});
  JobMemory memory(session->model());
  gate_->open();
  const JobId first = session->submit(memory.bindings()).value();
  ASSERT_TRUE(session->execute(memory.bindings()).ok());  // returns only when the first is done
  const Result<JobId> second = session->submit(memory.bindings());
  ASSERT_TRUE(second.ok()) << second.status().to_string();
  EXPECT_TRUE(session->wait(first, kForever).ok());
  EXPECT_TRUE(session->wait(*second, kForever).ok());
}

TEST_F(SessionTest, TwoJobsOfOneProgramRunAtTheSameTime) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory first(session->model()), second(session->model());
  const JobId first_id = session->submit(first.bindings()).value();
  const JobId second_id = session->submit(second.bindings()).value();
  gate_->await_arrivals(2);
  EXPECT_EQ(gate_->most_at_once(), 2u);
  gate_->open();
  EXPECT_TRUE(session->wait(first_id, kForever).ok());
  EXPECT_TRUE(session->wait(second_id, kForever).ok());
}

TEST_F(SessionTest, AJobStaysCollectableAfterATimeout) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  const JobId id = session->submit(memory.bindings()).value();
  EXPECT_EQ(session->wait(id, std::chrono::milliseconds(1)).code(), StatusCode::kPending);
  EXPECT_EQ(session->wait(id, std::chrono::milliseconds(-5)).code(), StatusCode::kPending);
  EXPECT_EQ(session->wait(id, std::chrono::milliseconds::min()).code(), StatusCode::kPending);
  gate_->open();
  EXPECT_TRUE(session->wait(id, kForever).ok());
}

TEST_F(SessionTest, AResultIsCollectedOnce) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  gate_->open();
  const JobId id = session->submit(memory.bindings()).value();
  EXPECT_TRUE(session->wait(id, kForever).ok());
  EXPECT_EQ(session->wait(id, kForever).code(), StatusCode::kUnknownJob);
}

TEST_F(SessionTest, IdsNeverIssuedAreUnknown) {
  const std::unique_ptr<Session> session = make_session();
  EXPECT_EQ(session->wait(0, kForever).code(), StatusCode::kUnknownJob);
  EXPECT_EQ(session->wait(1, kForever).code(), StatusCode::kUnknownJob);
  EXPECT_EQ(session->wait(0xffffffffu, kPoll).code(), StatusCode::kUnknownJob);
}

TEST_F(SessionTest, ResultsMayBeCollectedOutOfOrderAndByOtherThreads) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory first(session->model()), second(session->model());
  const JobId first_id = session->submit(first.bindings()).value();
  const JobId second_id = session->submit(second.bindings()).value();
  std::future<Status> other =
      std::async(std::launch::async, [&] { return session->wait(second_id, kForever); });
  gate_->open();
  EXPECT_TRUE(other.get().ok());
  EXPECT_TRUE(session->wait(first_id, kForever).ok());
}

TEST_F(SessionTest, OfTwoWaitersForOneJobOneGetsTheResult) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  const JobId id = session->submit(memory.bindings()).value();
  const auto wait = [&] { return session->wait(id, kForever).code(); };
  std::future<StatusCode> first = std::async(std::launch::async, wait);
  std::future<StatusCode> second = std::async(std::launch::async, wait);
  gate_->await_arrivals(1);
  gate_->open();
  const std::multiset<StatusCode> seen = {first.get(), second.get()};
  EXPECT_EQ(seen, (std::multiset<StatusCode>{StatusCode::kOk, StatusCode::kUnknownJob}));
}

TEST_F(SessionTest, AJobThatFailsReportsItsStatus) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  gate_->fail_with(internal_error("the mill stopped"));
  gate_->open();
  const JobId id = session->submit(memory.bindings()).value();
  const Status status = session->wait(id, kForever);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("the mill stopped"));
  gate_->fail_with({});
  EXPECT_TRUE(session->execute(memory.bindings()).ok()) << "a failed job spoils no other";
}

TEST_F(SessionTest, ExecuteWaitsForRoomAndNeverRefuses) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 1});
  JobMemory held(session->model()), waiting(session->model());
  const JobId id = session->submit(held.bindings()).value();
  std::future<Status> executed =
      std::async(std::launch::async, [&] { return session->execute(waiting.bindings()); });
  gate_->await_arrivals(1);
  EXPECT_EQ(executed.wait_for(std::chrono::milliseconds(1)), std::future_status::timeout);
  gate_->open();
  EXPECT_TRUE(executed.get().ok());
  EXPECT_TRUE(session->wait(id, kForever).ok());
}

TEST_F(SessionTest, FramesOfABatchRunOneAfterAnother) {
  const std::unique_ptr<Session> session = make_session({}, {.batch_size = 4});
  JobMemory memory(session->model(), 3);
  for (uint8_t frame = 0; frame < 3; ++frame) memory.input(frame)[0] = 10 * frame;
  gate_->open();
  ASSERT_TRUE(session->execute(memory.bindings()).ok());
  EXPECT_EQ(gate_->arrivals(), 3u);
  EXPECT_EQ(gate_->most_at_once(), 1u);
  for (uint8_t frame = 0; frame < 3; ++frame) EXPECT_EQ(memory.output(frame)[0], 10 * frame + 1);
}

TEST_F(SessionTest, ABatchEndsAtTheFrameThatFails) {
  const std::unique_ptr<Session> session = make_session({}, {.batch_size = 4});
  JobMemory memory(session->model(), 4);
  gate_->fail_with(internal_error("the mill stopped"));
  gate_->open();
  EXPECT_EQ(session->execute(memory.bindings()).code(), StatusCode::kInternal);
  EXPECT_EQ(gate_->arrivals(), 1u);
}

TEST_F(SessionTest, ReferencesToTensorsAreDroppedWhenTheJobIsComplete) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  std::weak_ptr<const void> input = memory.inputs()[0].owner;
  memory.outputs()[0].owner.reset();
  const std::vector<TensorBinding> outputs = memory.outputs();
  std::vector<uint8_t> output_bytes(session->model().outputs[0].hw->bytes());
  memory.outputs()[0].data = output_bytes.data();
  const JobId id = session->submit(memory.bindings()).value();
  memory.inputs()[0].owner.reset();
  EXPECT_FALSE(input.expired()) << "the job in flight keeps its tensors";
  gate_->open();
  ASSERT_TRUE(session->wait(id, kForever).ok());
  EXPECT_TRUE(input.expired());
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
  std::set<JobId> ids;
  for (uint32_t i = 0; i < kJobs; ++i) ids.insert(session->submit(memory.bindings()).value());
  EXPECT_EQ(session->submit(memory.bindings()).status().code(), StatusCode::kQueueFull);
  EXPECT_EQ(ids.size(), kJobs);
  gate_->open();
  for (const JobId id : ids) EXPECT_TRUE(session->wait(id, kForever).ok());
}

}  // namespace
}  // namespace millrace::runtime
