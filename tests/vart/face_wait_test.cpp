// Slots and results of jobs, with the device held at a gate and several threads looking on.
#include <gmock/gmock.h>

#include <algorithm>
#include <future>
#include <limits>
#include <set>
#include <thread>

#include "tests/support/gate.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr milliseconds kPoll{0};

class FaceWait : public GatedRunnerTest {
 protected:
  void start(const Options& options) {
    runner_ = make_runner(options);
    in_ = inputs(*runner_);
    out_ = outputs(*runner_);
  }
  JobHandle submit() {
    const JobHandle job = runner_->execute_async(in_, out_);
    EXPECT_EQ(job.status, StatusCode::SUCCESS);
    return job;
  }

  std::shared_ptr<Runner> runner_;
  Tensors in_, out_;
};

TEST_F(FaceWait, IdsStartAtOneAndAreNeverGivenTwice) {
  start({{"max_concurrent_runs", 2u}});
  gate_->release();
  std::set<uint32_t> ids;
  for (int i = 0; i < 200; ++i) {
    const JobHandle job = submit();
    EXPECT_GE(job.job_id, 1u);
    EXPECT_TRUE(ids.insert(job.job_id).second);
    EXPECT_EQ(runner_->wait(job, kForever), StatusCode::SUCCESS);
  }
}

TEST_F(FaceWait, ManyThreadsWaitEachForAJobOfItsOwn) {
  constexpr size_t kJobs = 8;
  start({{"max_concurrent_runs", kJobs}});
  std::vector<JobHandle> jobs;
  for (size_t i = 0; i < kJobs; ++i) jobs.push_back(submit());
  std::vector<StatusCode> results(kJobs, StatusCode::FAILURE);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kJobs; ++i)
    threads.emplace_back([&, i] { results[i] = runner_->wait(jobs[kJobs - 1 - i], kForever); });
  gate_->release();
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(results, Each(StatusCode::SUCCESS));
}

TEST_F(FaceWait, OfManyThreadsThatWaitForOneJobOneCollectsIt) {
  constexpr size_t kThreads = 6;
  start({});
  const JobHandle job = submit();
  test::ReusableBarrier barrier(kThreads + 1);
  std::vector<StatusCode> results(kThreads, StatusCode::FAILURE);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      barrier.arrive_and_wait();
      results[i] = runner_->wait(job, kForever);
    });
  barrier.arrive_and_wait();
  gate_->release();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::count(results.begin(), results.end(), StatusCode::SUCCESS), 1);
  EXPECT_EQ(std::count(results.begin(), results.end(), StatusCode::INVALID_JOB_ID), kThreads - 1);
}

TEST_F(FaceWait, PendingTakesNothingAwayWhicheverThreadAsked) {
  start({});
  const JobHandle job = submit();
  for (const milliseconds timeout : {kPoll, milliseconds(1)})
    EXPECT_EQ(runner_->wait(job, timeout), StatusCode::JOB_PENDING) << timeout.count();
  std::thread([&] {
    EXPECT_EQ(runner_->wait(job, milliseconds(1)), StatusCode::JOB_PENDING);
  }).join();
  gate_->release();
  EXPECT_EQ(runner_->wait(job, milliseconds::max()), StatusCode::SUCCESS);
}

TEST_F(FaceWait, ATimeoutBelowZeroWaitsForTheJob) {
  for (const milliseconds forever : {milliseconds(-1), milliseconds::min()}) {
    start({});
    gate_->hold();
    const JobHandle job = submit();
    std::future<StatusCode> waiting =
        std::async(std::launch::async, [&] { return runner_->wait(job, forever); });
    EXPECT_EQ(waiting.wait_for(milliseconds(1)), std::future_status::timeout);
    gate_->release();
    EXPECT_EQ(waiting.get(), StatusCode::SUCCESS);
  }
}

TEST_F(FaceWait, ACompletedJobCanBeCollectedWithAnyTimeout) {
  for (const milliseconds timeout : {kPoll, milliseconds(-5), kForever}) {
    start({{"max_concurrent_runs", 1u}});
    gate_->release();
    const JobHandle job = submit();
    ASSERT_EQ(runner_->execute(in_, out_), StatusCode::SUCCESS);  // its turn comes after the job
    EXPECT_EQ(runner_->wait(job, timeout), StatusCode::SUCCESS);
  }
}

TEST_F(FaceWait, JobsAreCollectedInAnyOrder) {
  start({{"max_concurrent_runs", 4u}});
  std::vector<JobHandle> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(submit());
  gate_->release();
  for (const size_t i : {2u, 0u, 3u, 1u})
    EXPECT_EQ(runner_->wait(jobs[i], kForever), StatusCode::SUCCESS);
  for (const JobHandle& job : jobs)
    EXPECT_EQ(runner_->wait(job, kForever), StatusCode::INVALID_JOB_ID);
}

TEST_F(FaceWait, OnlyTheIdOfAHandleCounts) {
  start({});
  gate_->release();
  const JobHandle job = submit();
  EXPECT_EQ(runner_->wait({StatusCode::RESOURCE_UNAVAILABLE, job.job_id}, kForever),
            StatusCode::SUCCESS);
}

TEST_F(FaceWait, IdsThatWereNeverIssuedAreInvalid) {
  start({});
  const JobHandle job = submit();
  for (const uint32_t id : {0u, job.job_id + 1, std::numeric_limits<uint32_t>::max()})
    for (const milliseconds timeout : {milliseconds(-1), kPoll, kForever})
      EXPECT_EQ(runner_->wait({StatusCode::SUCCESS, id}, timeout), StatusCode::INVALID_JOB_ID);
  gate_->release();
  EXPECT_EQ(runner_->wait(job, kForever), StatusCode::SUCCESS);
}

TEST_F(FaceWait, OneRunnersJobsAreNotAnothers) {
  start({});
  const std::shared_ptr<Runner> other = make_runner();
  const JobHandle job = submit();
  EXPECT_EQ(other->wait(job, kPoll), StatusCode::INVALID_JOB_ID);
  EXPECT_EQ(other->execute_async(in_, out_).status, StatusCode::SUCCESS) << "nor are the slots";
  gate_->release();
  EXPECT_EQ(runner_->wait(job, kForever), StatusCode::SUCCESS);
}

TEST_F(FaceWait, ExactlyTheJobBeyondTheLimitIsRefused) {
  for (const uint32_t limit : {1u, 2u, 3u}) {
    start({{"max_concurrent_runs", limit}});
    const uint64_t before = gate_->arrivals();
    std::vector<JobHandle> jobs;
    for (uint32_t i = 0; i < limit; ++i) jobs.push_back(submit());
    const JobHandle refused = runner_->execute_async(in_, out_);
    EXPECT_EQ(refused.status, StatusCode::RESOURCE_UNAVAILABLE);
    EXPECT_EQ(refused.job_id, 0u);
    EXPECT_EQ(runner_->wait(refused, kPoll), StatusCode::INVALID_JOB_ID);
    gate_->let_through(limit);
    for (const JobHandle& job : jobs) EXPECT_EQ(runner_->wait(job, kForever), StatusCode::SUCCESS);
    EXPECT_EQ(gate_->arrivals(), before + limit) << "a refused job does not reach the device";
  }
}

TEST_F(FaceWait, ASlotIsFreeOnceItsJobIsCompleteNotOnceItIsCollected) {
  start({{"max_concurrent_runs", 2u}});
  const JobHandle first = submit(), second = submit();
  gate_->await_arrivals(2);
  gate_->let_through(1);
  // A synchronous call waits for a slot where execute_async is refused, so one must have come free.
  std::thread third([&] { EXPECT_EQ(runner_->execute(in_, out_), StatusCode::SUCCESS); });
  gate_->await_arrivals(3);
  gate_->release();
  third.join();
  EXPECT_EQ(runner_->wait(first, kForever), StatusCode::SUCCESS);
  EXPECT_EQ(runner_->wait(second, kForever), StatusCode::SUCCESS);
}

TEST_F(FaceWait, SynchronousCallsWaitForTheirSlotAndKeepTheLimit) {
  start({{"max_concurrent_runs", 1u}});
  const JobHandle job = submit();
  gate_->await_arrivals(1);
  std::vector<StatusCode> results(4, StatusCode::FAILURE);
  std::vector<std::thread> threads;
  for (StatusCode& result : results)
    threads.emplace_back([&] { result = runner_->execute(in_, out_); });
  EXPECT_EQ(runner_->wait(job, milliseconds(1)), StatusCode::JOB_PENDING);
  gate_->release();
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(results, Each(StatusCode::SUCCESS));
  EXPECT_EQ(gate_->most_at_once(), 1u);
  EXPECT_EQ(runner_->wait(job, kForever), StatusCode::SUCCESS);
}

TEST_F(FaceWait, ResultsThatAreNotCollectedDelayNothing) {
  start({{"max_concurrent_runs", 1u}});
  gate_->release();
  for (int i = 0; i < 500; ++i) {
    submit();
    ASSERT_EQ(runner_->execute(in_, out_), StatusCode::SUCCESS);
  }
  runner_.reset();
}

TEST_F(FaceWait, ACallThatRunsOutlivesItsRunner) {
  start({});
  Runner& runner = *runner_;
  StatusCode status = StatusCode::JOB_PENDING;
  std::thread caller([&] { status = runner.execute(in_, out_); });
  gate_->await_arrivals(1);
  std::thread destroyer([&] { runner_.reset(); });
  gate_->release();
  destroyer.join();
  caller.join();
  EXPECT_EQ(status, StatusCode::SUCCESS);
}

}  // namespace
}  // namespace millrace::vartml
