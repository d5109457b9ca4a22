// Tests which jobs a fault plan affects: always the same ones, by their number in the order of
// acceptance, on any number of lanes and with any number of threads that submit.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

constexpr uint64_t kThreads = 6;
constexpr uint64_t kJobsPerThread = 40;
constexpr uint64_t kJobs = kThreads * kJobsPerThread;

using Numbers = std::set<uint64_t>;

// Submits a job, again while the session is full. A job that is refused takes no number.
template <class Memory>
auto submit_when_there_is_room(Session& session, const Memory& memory) {
  for (;;) {
    const auto id = session.submit(memory.bindings());
    if (id.ok()) return *id;
    EXPECT_EQ(id.status().code(), StatusCode::kQueueFull);
    std::this_thread::yield();
  }
}

// Runs kJobs jobs, which several threads submit to one session, on a device with `lanes` lanes.
// Returns the ids of the jobs that fail under these faults.
Numbers failed_ids(uint32_t lanes, const std::string& faults) {
  const test::GatedDevice gated = test::make_gated_device(lanes);
  gated.faults->release();
  const auto program =
      gated.device->load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value();
  const std::unique_ptr<Session> session =
      Session::create(gated.device, program, {.max_concurrent_runs = 8}).value();
  gated.faults->apply(device::FaultPlan::parse(faults).value());
  std::mutex mutex;
  Numbers failed;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      const JobMemory memory(session->model());
      for (uint64_t i = 0; i < kJobsPerThread; ++i) {
        const auto id = submit_when_there_is_room(*session, memory);
        if (session->wait(id, kForever).ok()) continue;
        const std::lock_guard lock(mutex);
        failed.insert(id);
      }
    });
  for (std::thread& thread : threads) thread.join();
  return failed;
}

class FaultOrder : public ::testing::TestWithParam<uint32_t> {};

TEST_P(FaultOrder, OneJobIsTheNthOneAccepted) {
  for (const uint64_t n : {1u, 2u, 100u})
    EXPECT_EQ(failed_ids(GetParam(), "fail=" + std::to_string(n)), Numbers{n});
}

TEST_P(FaultOrder, EveryNthJobIsCountedAsAccepted) {
  Numbers expected;
  for (uint64_t n = 7; n <= kJobs; n += 7) expected.insert(n);
  EXPECT_EQ(failed_ids(GetParam(), "fail_every=7"), expected);
}

TEST_P(FaultOrder, RandomFaultsStrikeTheSameJobsAsOnOneLane) {
  const std::string faults = "fail_rate=0.2,slow_rate=0.1,slow_for=100us,seed=7";
  const Numbers expected = failed_ids(1, faults);
  EXPECT_GT(expected.size(), kJobs / 10);
  EXPECT_EQ(failed_ids(GetParam(), faults), expected);
}

TEST_P(FaultOrder, RulesStrikeTheSameJobsAsOnOneLane) {
  const std::string faults =
      "fail:p=20%,model=tiny;slow:p=10%,for=100us;fail:jobs=5-6;fail:model=another;seed=7";
  const Numbers expected = failed_ids(1, faults);
  EXPECT_GT(expected.size(), kJobs / 10);
  EXPECT_LT(expected.size(), kJobs / 2);
  EXPECT_TRUE(expected.contains(5) && expected.contains(6));
  EXPECT_EQ(failed_ids(GetParam(), faults), expected);
}

INSTANTIATE_TEST_SUITE_P(Lanes, FaultOrder, ::testing::Values(1u, 2u, 4u));

class FaultCount : public GatedSession {
 protected:
  FaultCount() { faults().release(); }
};

TEST_F(FaultCount, GoesOnOverTheSessionsOfADeviceAndSynchronousJobs) {
  const std::unique_ptr<Session> first = make_session(), second = make_session();
  const JobMemory memory(first->model());
  faults().fail_nth(2);
  faults().fail_nth(3);
  faults().fail_nth(6);
  EXPECT_TRUE(first->execute(memory.bindings()).ok());
  EXPECT_EQ(second->execute(memory.bindings()).code(), StatusCode::kDeviceFailed);
  const auto third = first->submit(memory.bindings()).value();
  EXPECT_EQ(first->wait(third, kForever).code(), StatusCode::kDeviceFailed);
  const auto fourth = second->submit(memory.bindings()).value();
  EXPECT_TRUE(second->wait(fourth, kForever).ok());
  EXPECT_TRUE(first->execute(memory.bindings()).ok());
  EXPECT_EQ(second->execute(memory.bindings()).code(), StatusCode::kDeviceFailed);
}

TEST_F(FaultCount, IsOfJobsNotOfFrames) {
  const std::unique_ptr<Session> session = make_session({}, {.batch_size = 4});
  const JobMemory batch(session->model(), 4), single(session->model(), 1);
  faults().fail_nth(2);
  EXPECT_TRUE(session->execute(batch.bindings()).ok());
  EXPECT_EQ(session->execute(batch.bindings()).code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(faults().arrivals(), 4u + 1u) << "the first frame fails, the others do not run";
  EXPECT_TRUE(session->execute(single.bindings()).ok());
}

TEST_F(FaultCount, LeavesOutWhatIsRefused) {
  faults().hold();
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 1});
  const JobMemory memory(session->model());
  faults().fail_nth(2);
  const auto held = session->submit(memory.bindings()).value();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(session->submit(memory.bindings()).status().code(), StatusCode::kQueueFull);
  faults().release();
  EXPECT_TRUE(session->wait(held, kForever).ok());
  EXPECT_EQ(session->execute(memory.bindings()).code(), StatusCode::kDeviceFailed);
}

// A plan may say which calls find the session full. They leave no gap in the ids of jobs.
TEST_F(FaultCount, IsOfCallsWhereAPlanRefusesThem) {
  const std::unique_ptr<Session> session = make_session();
  const JobMemory memory(session->model());
  faults().apply(device::FaultPlan::parse("full:jobs=2").value());
  const auto first = session->submit(memory.bindings()).value();
  EXPECT_EQ(session->submit(memory.bindings()).status().code(), StatusCode::kQueueFull);
  EXPECT_TRUE(session->execute(memory.bindings()).ok());
  const auto second = session->submit(memory.bindings()).value();
  EXPECT_EQ(second, first + 1);
  EXPECT_TRUE(session->wait(first, kForever).ok() && session->wait(second, kForever).ok());
}

}  // namespace
}  // namespace millrace::runtime
