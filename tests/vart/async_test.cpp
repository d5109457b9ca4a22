// execute_async and wait, with the device held at a gate.
#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>

#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

class AsyncTest : public GatedRunnerTest {};

TEST_F(AsyncTest, TwoJobsAreAcceptedTheThirdIsRefusedAndBothFinishAfterRelease) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner);
  Tensors first_out = outputs(*runner), second_out = outputs(*runner), third_out = outputs(*runner);
  const JobHandle first = runner->execute_async(in, first_out);
  const JobHandle second = runner->execute_async(in, second_out);
  EXPECT_EQ(first.status, StatusCode::SUCCESS);
  EXPECT_EQ(second.status, StatusCode::SUCCESS);
  EXPECT_GE(first.job_id, 1u);
  EXPECT_NE(first.job_id, second.job_id);
  EXPECT_EQ(runner->wait(first, milliseconds(0)), StatusCode::JOB_PENDING);
  EXPECT_EQ(runner->wait(second, milliseconds(1)), StatusCode::JOB_PENDING);

  const JobHandle third = runner->execute_async(in, third_out);
  EXPECT_EQ(third.status, StatusCode::RESOURCE_UNAVAILABLE);
  EXPECT_EQ(third.job_id, 0u);

  gate_->release();
  EXPECT_EQ(runner->wait(second, kForever), StatusCode::SUCCESS);
  EXPECT_EQ(runner->wait(first, kForever), StatusCode::SUCCESS);
  EXPECT_EQ(data(first_out[0][0])[0], 1);
  EXPECT_EQ(data(third_out[0][0])[0], 0) << "a refused job changes nothing";
}

TEST_F(AsyncTest, MaxConcurrentRunsIsTheLimit) {
  const std::shared_ptr<Runner> runner = make_runner({{"max_concurrent_runs", 5u}});
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  std::vector<JobHandle> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(runner->execute_async(in, out));
  EXPECT_EQ(runner->execute_async(in, out).status, StatusCode::RESOURCE_UNAVAILABLE);
  gate_->release();
  for (const JobHandle& job : jobs) EXPECT_EQ(runner->wait(job, kForever), StatusCode::SUCCESS);
}

TEST_F(AsyncTest, AWaitOfMinusOneHasNoLimit) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  const JobHandle job = runner->execute_async(in, out);
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(20));
    gate_->release();
  });
  EXPECT_EQ(runner->wait(job, milliseconds(-1)), StatusCode::SUCCESS);
  later.join();
}

TEST_F(AsyncTest, AResultIsCollectedOnceAndUnknownIdsAreInvalid) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  gate_->release();
  const JobHandle job = runner->execute_async(in, out);
  EXPECT_EQ(runner->wait(job, kForever), StatusCode::SUCCESS);
  EXPECT_EQ(runner->wait(job, kForever), StatusCode::INVALID_JOB_ID);
  EXPECT_EQ(runner->wait(JobHandle(), kForever), StatusCode::INVALID_JOB_ID);
  EXPECT_EQ(runner->wait(JobHandle(StatusCode::SUCCESS, 4711), milliseconds(0)),
            StatusCode::INVALID_JOB_ID);
}

TEST_F(AsyncTest, ASlotIsFreeAtCompletionNotAtWait) {
  const std::shared_ptr<Runner> runner = make_runner({{"max_concurrent_runs", 1}});
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  gate_->release();
  const JobHandle first = runner->execute_async(in, out);
  ASSERT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
  const JobHandle second = runner->execute_async(in, out);
  EXPECT_EQ(second.status, StatusCode::SUCCESS);
  EXPECT_EQ(runner->wait(first, kForever), StatusCode::SUCCESS);
  EXPECT_EQ(runner->wait(second, kForever), StatusCode::SUCCESS);
}

TEST_F(AsyncTest, AFailedJobIsARuntimeError) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  gate_->fail_all(internal_error("the mill stopped"));
  gate_->release();
  EXPECT_EQ(runner->execute(in, out), StatusCode::RUNTIME_ERROR);
  const JobHandle job = runner->execute_async(in, out);
  EXPECT_EQ(job.status, StatusCode::SUCCESS);
  EXPECT_EQ(runner->wait(job, kForever), StatusCode::RUNTIME_ERROR);
  gate_->fail_all(Status(millrace::StatusCode::kOutOfMemory, "no memory"));
  EXPECT_EQ(runner->execute(in, out), StatusCode::OUT_OF_MEMORY);
}

TEST_F(AsyncTest, CallbacksGetTheHandleAndTheUserData) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  std::promise<JobHandle> plain;
  std::promise<std::pair<JobHandle, void*>> with_data;
  const JobHandle first =
      runner->execute_async(in, out, [&](const JobHandle& job) { plain.set_value(job); });
  const JobHandle second = runner->execute_async(
      in, out,
      [&](const JobHandle& job, void* user_data) {
        with_data.set_value({job, user_data});
      },
      &out);
  gate_->release();
  const JobHandle called = plain.get_future().get();
  EXPECT_EQ(called.job_id, first.job_id);
  EXPECT_EQ(called.status, StatusCode::SUCCESS);
  const auto [job, user_data] = with_data.get_future().get();
  EXPECT_EQ(job.job_id, second.job_id);
  EXPECT_EQ(user_data, &out);
  EXPECT_EQ(runner->wait(first, kForever), StatusCode::SUCCESS) << "collectable as well";
}

TEST_F(AsyncTest, AnEmptyCallbackIsNone) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  gate_->release();
  const JobHandle first = runner->execute_async(in, out, nullptr);
  const JobHandle second = runner->execute_async(in, out, nullptr, nullptr);
  EXPECT_EQ(runner->wait(first, kForever), StatusCode::SUCCESS);
  EXPECT_EQ(runner->wait(second, kForever), StatusCode::SUCCESS);
}

enum class Order { kSubmission, kCompletion };

// Jobs of two frames and of one: the second overtakes the first. Returns who was called, in order.
std::vector<uint32_t> callback_order(Runner& runner, device::FaultPlan& gate, Order order,
                                     const Tensors& two_frames, const Tensors& one_frame,
                                     Tensors& out) {
  std::vector<uint32_t> called;
  std::promise<void> one, both;
  const auto note = [&](const JobHandle& job) {
    called.push_back(job.job_id);
    (called.size() == 1 ? one : both).set_value();
  };
  const JobHandle first = runner.execute_async(two_frames, out, note);
  gate.await_arrivals(1);
  const JobHandle second = runner.execute_async(one_frame, out, note);
  gate.await_arrivals(2);
  gate.let_through(2);
  gate.await_arrivals(3);
  EXPECT_EQ(runner.wait(second, kForever), StatusCode::SUCCESS);
  EXPECT_EQ(runner.wait(first, milliseconds(0)), StatusCode::JOB_PENDING);
  // The second may be completed although its callback is not yet on its way.
  if (order == Order::kCompletion) one.get_future().get();
  gate.release();
  both.get_future().get();
  for (uint32_t& id : called) id = id == first.job_id ? 1 : 2;
  return called;
}

TEST_F(AsyncTest, CallbackOrderIsThatOfSubmissionByDefault) {
  const std::shared_ptr<Runner> runner = make_runner({}, {.batch_size = 2});
  Tensors out = outputs(*runner, 2);
  EXPECT_THAT(callback_order(*runner, *gate_, Order::kSubmission, inputs(*runner, 2),
                             inputs(*runner, 1), out),
              ElementsAre(1, 2));
}

TEST_F(AsyncTest, CallbackOrderOfCompletion) {
  const std::shared_ptr<Runner> runner =
      make_runner({{"callback_order", std::string("completion")}}, {.batch_size = 2});
  Tensors out = outputs(*runner, 2);
  EXPECT_THAT(callback_order(*runner, *gate_, Order::kCompletion, inputs(*runner, 2),
                             inputs(*runner, 1), out),
              ElementsAre(2, 1));
}

TEST_F(AsyncTest, ACallbackMaySubmitTheNextJob) {
  const std::shared_ptr<Runner> runner = make_runner({{"max_concurrent_runs", 1}});
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  gate_->release();
  int left = 100;
  std::promise<void> finished;
  std::function<void(const JobHandle&)> next = [&](const JobHandle& job) {
    EXPECT_EQ(job.status, StatusCode::SUCCESS);
    if (--left == 0) return finished.set_value();
    EXPECT_EQ(runner->execute_async(in, out, next).status, StatusCode::SUCCESS);
  };
  ASSERT_EQ(runner->execute_async(in, out, next).status, StatusCode::SUCCESS);
  finished.get_future().get();
  EXPECT_EQ(left, 0);
}

TEST_F(AsyncTest, TensorsMayGoAwayWhileTheirJobRuns) {
  const std::shared_ptr<Runner> runner = make_runner();
  JobHandle job;
  {
    const Tensors in = inputs(*runner);
    Tensors out = outputs(*runner);
    job = runner->execute_async(in, out);
    gate_->await_arrivals(1);
  }
  gate_->release();
  EXPECT_EQ(runner->wait(job, kForever), StatusCode::SUCCESS);
}

TEST_F(AsyncTest, ARunnerMayGoAwayWithJobsInFlight) {
  std::shared_ptr<Runner> runner = make_runner({{"max_concurrent_runs", 4}});
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  std::atomic<int> called{0};
  for (int i = 0; i < 4; ++i) {
    const JobHandle job = runner->execute_async(in, out, [&](const JobHandle& done) {
      EXPECT_TRUE(done.status == StatusCode::SUCCESS || done.status == StatusCode::FAILURE);
      ++called;
    });
    ASSERT_EQ(job.status, StatusCode::SUCCESS);
  }
  gate_->await_arrivals(2);
  std::thread closer([&] { runner.reset(); });
  gate_->release();
  closer.join();
  EXPECT_EQ(called, 4);
}

TEST_F(AsyncTest, ACallbackMayDropTheLastPointerToItsRunner) {
  std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  std::promise<void> dropped;
  ASSERT_EQ(runner
                ->execute_async(in, out,
                                [&](const JobHandle&) {
                                  runner.reset();
                                  dropped.set_value();
                                })
                .status,
            StatusCode::SUCCESS);
  gate_->release();
  dropped.get_future().get();
  EXPECT_EQ(runner, nullptr);
}

}  // namespace
}  // namespace millrace::vartml
