// Sessions bound to a core by their start column.
#include <gmock/gmock.h>

#include <optional>
#include <thread>
#include <vector>

#include "base/process/topology.h"
#include "runtime/columns/columns.h"
#include "runtime/session.h"
#include "tests/runtime/session_fixture.h"
#include "tests/support/library_threads.h"
#include "tests/support/run_log.h"

namespace millrace::runtime {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr uint32_t kDeviceLanes = 2;  // of the fixture

class BoundSession : public GatedSession {
 protected:
  std::unique_ptr<Session> make_bound(uint32_t start_column) {
    return make_session({.placement = Placement{.start_column = start_column}});
  }
  static uint32_t budget() { return static_cast<uint32_t>(topology().core_budget); }

  const ColumnMap map_ = ColumnMap::of_process().value();
};

TEST_F(BoundSession, JobsRunOnTheCoreOfTheirGroup) {
  faults().release();
  for (uint32_t start_column = 0; start_column <= map_.last_start_column(); ++start_column) {
    const std::unique_ptr<Session> session = make_bound(start_column);
    EXPECT_EQ(session->lane_count(), 1u);
    JobMemory memory(session->model());
    const test::RunLog log;
    EXPECT_TRUE(session->execute(memory.bindings()).ok());
    EXPECT_TRUE(session->wait(session->submit(memory.bindings()).value(), kForever).ok());
    EXPECT_THAT(log.cores(), AllOf(SizeIs(2), Each(ElementsAre(map_.core_of(start_column / 4)))));
    EXPECT_THAT(log.threads(), Not(Contains(std::this_thread::get_id())));
  }
}

TEST_F(BoundSession, WithoutAStartColumnJobsRunOnTheLanesOfTheDevice) {
  EXPECT_EQ(make_session()->lane_count(), kDeviceLanes);
  EXPECT_EQ(make_session({.placement = Placement{.exclusive = true}})->lane_count(), kDeviceLanes);
}

TEST_F(BoundSession, GroupsOfOneCoreTakeTurns) {
  if (budget() >= map_.groups()) GTEST_SKIP() << "every group has a core of its own here";
  const std::unique_ptr<Session> one = make_bound(0);
  const std::unique_ptr<Session> other = make_bound(budget() * kColumnsPerGroup);
  JobMemory memory(one->model());
  const test::RunLog log;
  std::vector<SessionJobId> of_one, of_other;
  for (int i = 0; i < 2; ++i) {
    of_one.push_back(one->submit(memory.bindings()).value());
    of_other.push_back(other->submit(memory.bindings()).value());
  }
  faults().await_arrivals(1);
  faults().release();
  for (const SessionJobId id : of_one) EXPECT_TRUE(one->wait(id, kForever).ok());
  for (const SessionJobId id : of_other) EXPECT_TRUE(other->wait(id, kForever).ok());
  EXPECT_EQ(faults().most_at_once(), 1u);
  EXPECT_EQ(log.started(), log.submitted());
}

TEST_F(BoundSession, DoesNotWaitForTheLanesOfTheDevice) {
  const std::unique_ptr<Session> unbound = make_session(), bound = make_bound(0);
  JobMemory memory(bound->model());
  std::vector<SessionJobId> ids;
  for (uint32_t i = 0; i < kDeviceLanes; ++i)
    ids.push_back(unbound->submit(memory.bindings()).value());
  faults().await_arrivals(kDeviceLanes);
  const SessionJobId on_core = bound->submit(memory.bindings()).value();
  faults().await_arrivals(kDeviceLanes + 1);
  faults().release();
  EXPECT_TRUE(bound->wait(on_core, kForever).ok());
  for (const SessionJobId id : ids) EXPECT_TRUE(unbound->wait(id, kForever).ok());
}

TEST_F(BoundSession, SharesItsProgramWithSessionsElsewhere) {
  const auto program =
      device_->load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value();
  const auto on_first = Session::create(device_, program, {.placement = Placement{0}}).value();
  const auto on_next = Session::create(device_, program, {.placement = Placement{4}}).value();
  const auto unbound = Session::create(device_, program).value();
  faults().release();
  for (Session* session : {on_first.get(), on_next.get(), unbound.get()}) {
    JobMemory memory(session->model());
    memory.input()[0] = 7;
    EXPECT_TRUE(session->execute(memory.bindings()).ok());
    EXPECT_EQ(memory.output()[0], 8);
  }
}

TEST_F(BoundSession, ThereIsOneThreadPerCoreInUseWhateverTheNumberOfSessions) {
  test::await_library_threads(kDeviceLanes);
  {
    std::vector<std::unique_ptr<Session>> sessions;
    for (int round = 0; round < 3; ++round)
      for (uint32_t column = 0; column < map_.columns(); column += kColumnsPerGroup)
        sessions.push_back(make_bound(column));
    test::await_library_threads(kDeviceLanes + std::min(budget(), map_.groups()));
  }
  test::await_library_threads(kDeviceLanes);
}

TEST_F(BoundSession, ExclusiveColumnsAreRefusedToOthersUntilTheSessionIsGone) {
  const auto program =
      device_->load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value();
  SessionOptions options{.placement = Placement{.start_column = 8, .exclusive = true}};
  options.name = "mill";
  std::unique_ptr<Session> session = Session::create(device_, program, options).value();
  const Status refused = Session::create(device_, program, {.placement = Placement{8}}).status();
  EXPECT_EQ(refused.code(), StatusCode::kBusy);
  EXPECT_THAT(refused.message(), HasSubstr("mill (model \"tiny\") is on columns 8 to 11"));
  session.reset();
  EXPECT_TRUE(Session::create(device_, program, options).ok());
}

TEST_F(BoundSession, RefusesColumnsThatAreNotThere) {
  const auto program =
      device_->load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value();
  const Status refused =
      Session::create(device_, program, {.placement = Placement{map_.columns()}}).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
}

TEST_F(BoundSession, ComesAndGoesFromManyThreads) {
  faults().release();
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (uint32_t round = 0; round < 25; ++round) {
        const std::unique_ptr<Session> session = make_bound((i + round) % 9 * kColumnsPerGroup);
        JobMemory memory(session->model());
        ASSERT_TRUE(session->submit(memory.bindings()).ok());
        ASSERT_TRUE(session->execute(memory.bindings()).ok());
      }
    });
  for (std::thread& thread : threads) thread.join();
}

// How many lanes the jobs of one session may hold.
class MaxLanes : public ::testing::TestWithParam<uint32_t> {};

TEST_P(MaxLanes, IsHowManyJobsRunAtOnce) {
  constexpr uint32_t kJobs = 4;
  test::GatedDevice gated = test::make_gated_device(kJobs);
  const auto program =
      gated.device->load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value();
  const std::unique_ptr<Session> session =
      Session::create(gated.device, program,
                      {.max_concurrent_runs = kJobs, .max_lanes = GetParam()})
          .value();
  JobMemory memory(session->model());
  std::vector<SessionJobId> ids;
  for (uint32_t i = 0; i < kJobs; ++i) ids.push_back(session->submit(memory.bindings()).value());
  EXPECT_EQ(session->submit(memory.bindings()).status().code(), StatusCode::kQueueFull);
  gated.faults->await_arrivals(GetParam());
  gated.faults->release();
  for (const SessionJobId id : ids) EXPECT_TRUE(session->wait(id, kForever).ok());
  EXPECT_EQ(gated.faults->most_at_once(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Session, MaxLanes, ::testing::Values(1u, 2u, 4u));

// How many of three jobs run at once on three lanes, by the mode of their session.
uint32_t most_at_once(std::optional<JobMode> mode) {
  constexpr uint32_t kJobs = 3;
  test::GatedDevice gated = test::make_gated_device(kJobs);
  const auto program =
      gated.device->load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value();
  const std::unique_ptr<Session> session =
      Session::create(gated.device, program, {.max_concurrent_runs = kJobs, .mode = mode}).value();
  JobMemory memory(session->model());
  std::vector<SessionJobId> ids;
  for (uint32_t i = 0; i < kJobs; ++i) ids.push_back(session->submit(memory.bindings()).value());
  const bool one_by_one = job_mode_in_force(mode).value() == JobMode::kLatency;
  gated.faults->await_arrivals(one_by_one ? 1 : kJobs);
  gated.faults->release();
  for (const SessionJobId id : ids) EXPECT_TRUE(session->wait(id, kForever).ok());
  return gated.faults->most_at_once();
}

TEST(SessionMode, ForLatencyJobsRunOneAfterAnother) {
  EXPECT_EQ(most_at_once(JobMode::kLatency), 1u);
  EXPECT_EQ(most_at_once(JobMode::kThroughput), 3u);
  EXPECT_EQ(most_at_once(std::nullopt), 3u);
}

TEST(SessionMode, IsWhatTheVariableSaysWhereTheProgramSaysNothing) {
  setenv("MILLRACE_JOB_MODE", "Latency", 1);
  EXPECT_EQ(most_at_once(std::nullopt), 1u);
  EXPECT_EQ(most_at_once(JobMode::kAdaptive), 3u);
  setenv("MILLRACE_JOB_MODE", "fast", 1);
  const Status refused = job_mode_in_force().status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("MILLRACE_JOB_MODE"), HasSubstr("throughput")));
  unsetenv("MILLRACE_JOB_MODE");
}

}  // namespace
}  // namespace millrace::runtime
