// Callbacks: which are called, in which order, and what they may do.
#include <gmock/gmock.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <stdexcept>
#include <thread>

#include "tests/support/gate.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

class FaceCallback : public GatedRunnerTest {
 protected:
  void start(const Options& options = {}, const test::TinyModelOptions& model = {}) {
    runner_ = make_runner(options, model);
    in_ = inputs(*runner_);
    out_ = outputs(*runner_, runner_->get_batch_size());
  }
  template <class Callback>
  JobHandle submit(Callback callback) {
    const JobHandle job = runner_->execute_async(in_, out_, std::move(callback));
    EXPECT_EQ(job.status, StatusCode::SUCCESS);
    return job;
  }
  // A job whose callback has been called and returns once the gate is open. Both own the gate,
  // since the callback may return after the test.
  std::shared_ptr<test::TaskGate> submit_with_waiting_callback() {
    const auto gate = std::make_shared<test::TaskGate>();
    submit([gate](const JobHandle&) { gate->pass(); });
    gate->await_arrivals(1);
    return gate;
  }

  std::shared_ptr<Runner> runner_;
  Tensors in_, out_;
};

TEST_F(FaceCallback, ItsJobIsCollectableAndItsSlotFree) {
  start({{"max_concurrent_runs", 1u}});
  gate_->release();
  std::promise<StatusCode> collected, next;
  submit([&](const JobHandle& done) {
    next.set_value(runner_->execute(in_, out_));
    collected.set_value(runner_->wait(done, milliseconds(0)));
  });
  EXPECT_EQ(next.get_future().get(), StatusCode::SUCCESS);
  EXPECT_EQ(collected.get_future().get(), StatusCode::SUCCESS);
}

TEST_F(FaceCallback, ItMayWaitForOtherJobs) {
  start();
  std::promise<StatusCode> waited;
  const JobHandle plain = runner_->execute_async(in_, out_);
  submit([&](const JobHandle&) { waited.set_value(runner_->wait(plain, kForever)); });
  gate_->release();
  EXPECT_EQ(waited.get_future().get(), StatusCode::SUCCESS);
}

TEST_F(FaceCallback, ItMayMakeAndDropARunner) {
  start();
  gate_->release();
  std::promise<StatusCode> made;
  submit([&](const JobHandle&) {
    const std::shared_ptr<Runner> other = make_runner();
    made.set_value(other->execute(in_, out_));
  });
  EXPECT_EQ(made.get_future().get(), StatusCode::SUCCESS);
}

TEST_F(FaceCallback, WhatItThrowsStopsNothing) {
  start();
  gate_->release();
  submit([](const JobHandle&) { throw std::runtime_error("from the program"); });
  std::promise<void> next;
  submit([&](const JobHandle&) { next.set_value(); });
  next.get_future().get();
  EXPECT_EQ(runner_->execute(in_, out_), StatusCode::SUCCESS);
}

TEST_F(FaceCallback, OneThatBlocksHoldsUpNoJob) {
  start();
  gate_->release();
  const std::shared_ptr<test::TaskGate> callback = submit_with_waiting_callback();
  EXPECT_EQ(runner_->execute(in_, out_), StatusCode::SUCCESS);
  const JobHandle job = submit([](const JobHandle&) {});
  EXPECT_EQ(runner_->wait(job, kForever), StatusCode::SUCCESS) << "waits for the job only";
  callback->open();
}

TEST_F(FaceCallback, OneOfARefusedJobIsNeverCalledAndNotKept) {
  start({{"max_concurrent_runs", 1u}});
  const auto token = std::make_shared<int>();
  const JobHandle job = runner_->execute_async(in_, out_);
  const auto callback = [token](const JobHandle&) { ADD_FAILURE() << "called"; };
  const long kept = token.use_count();
  EXPECT_EQ(runner_->execute_async(in_, out_, callback).status, StatusCode::RESOURCE_UNAVAILABLE);
  gate_->release();
  EXPECT_EQ(runner_->wait(job, kForever), StatusCode::SUCCESS);
  Tensors none;
  EXPECT_EQ(runner_->execute_async({}, out_, callback).status, StatusCode::INVALID_INPUT);
  EXPECT_EQ(runner_->execute_async(in_, none, callback).status, StatusCode::INVALID_OUTPUT);
  runner_.reset();
  EXPECT_EQ(token.use_count(), kept);
}

TEST_F(FaceCallback, WhatItHoldsIsGoneWithTheRunner) {
  start();
  gate_->release();
  const auto token = std::make_shared<int>();
  submit([token](const JobHandle&) {});
  const JobHandle job = runner_->execute_async(
      in_, out_, [token](const JobHandle&, void*) {}, nullptr);
  EXPECT_EQ(job.status, StatusCode::SUCCESS);
  runner_.reset();
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(FaceCallback, JobsWithoutOneDoNotHoldUpTheOthers) {
  start({}, {.batch_size = 2});
  const Tensors two_frames = inputs(*runner_, 2);
  const JobHandle plain = runner_->execute_async(two_frames, out_);
  gate_->await_arrivals(1);
  std::promise<void> called;
  submit([&](const JobHandle&) { called.set_value(); });
  gate_->await_arrivals(2);
  gate_->let_through(2);  // the first frame of the first job, and the second job
  called.get_future().get();
  EXPECT_EQ(runner_->wait(plain, milliseconds(0)), StatusCode::JOB_PENDING);
  gate_->release();
  EXPECT_EQ(runner_->wait(plain, kForever), StatusCode::SUCCESS);
}

TEST_F(FaceCallback, BothFormsShareOneOrder) {
  start({{"max_concurrent_runs", 3u}});
  std::vector<int> called;
  std::promise<void> all;
  const auto note = [&](int which) {
    called.push_back(which);
    if (called.size() == 3) all.set_value();
  };
  submit([&](const JobHandle&) { note(1); });
  int two = 2;
  const JobHandle second = runner_->execute_async(
      in_, out_, [&](const JobHandle&, void* which) { note(*static_cast<int*>(which)); }, &two);
  EXPECT_EQ(second.status, StatusCode::SUCCESS);
  submit([&](const JobHandle&) { note(3); });
  gate_->release();
  all.get_future().get();
  EXPECT_THAT(called, ElementsAre(1, 2, 3));
}

TEST_F(FaceCallback, AllAreCalledThoughTheRunnerGoes) {
  start({{"max_concurrent_runs", 6u}, {"callback_order", std::string("completion")}});
  std::atomic<int> called{0}, succeeded{0};
  for (int i = 0; i < 6; ++i)
    submit([&](const JobHandle& done) {
      if (done.status == StatusCode::SUCCESS) ++succeeded;
      ++called;
    });
  gate_->await_arrivals(2);
  std::thread closer([&] { runner_.reset(); });
  gate_->release();
  closer.join();
  EXPECT_EQ(called, 6);
  EXPECT_GE(succeeded, 2) << "those that ran";
}

TEST_F(FaceCallback, OneThatDoesNotReturnHoldsNoOtherRunner) {
  start();
  gate_->release();
  const std::shared_ptr<test::TaskGate> callback = submit_with_waiting_callback();
  std::shared_ptr<Runner> other = make_runner();
  std::vector<int> order;
  for (int i = 0; i < 2; ++i) {
    const JobHandle job =
        other->execute_async(in_, out_, [&, i](const JobHandle&) { order.push_back(i); });
    EXPECT_EQ(other->wait(job, kForever), StatusCode::SUCCESS);
  }
  other.reset();
  EXPECT_THAT(order, ElementsAre(0, 1));
  callback->open();
}

TEST_F(FaceCallback, OneThatNeverReturnsDoesNotHoldExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto leave_one_behind = [this] {
    static std::shared_ptr<Runner> runner;
    gate_->release();
    runner = make_runner({{"name", std::string("stuck")}});
    in_ = inputs(*runner);
    out_ = outputs(*runner);
    static std::promise<void> called;
    runner->execute_async(in_, out_, [](const JobHandle&) {
      called.set_value();
      for (;;) pause();
    });
    called.get_future().get();
    std::exit(3);
  };
  EXPECT_EXIT(leave_one_behind(), testing::ExitedWithCode(3),
              "a callback of runner \"stuck\" has not returned");
}

TEST_F(FaceCallback, OneMayEndItsThread) {
  start({{"max_concurrent_runs", 4u}});
  std::vector<int> order;
  std::promise<void> all;
  for (int i = 0; i < 4; ++i)
    submit([&, i](const JobHandle&) {
      order.push_back(i);
      if (i == 3) all.set_value();
      pthread_exit(nullptr);
    });
  gate_->release();
  all.get_future().get();
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
  runner_.reset();
}

// As programs do that keep the device busy from their callbacks, and hold no pointer of their own.
TEST_F(FaceCallback, OneThatSubmitsTheNextJobIsRefusedWhenTheRunnerIsDestroyed) {
  start();
  gate_->release();
  Runner& runner = *runner_;
  std::promise<void> called;
  StatusCode submitted = StatusCode::SUCCESS, executed = submitted, collected = submitted;
  submit([&](const JobHandle& done) {
    called.set_value();
    while (submitted == StatusCode::SUCCESS) {
      const JobHandle next = runner.execute_async(in_, out_, [](const JobHandle&) {});
      submitted = next.status;
      if (submitted == StatusCode::SUCCESS) runner.wait(next, kForever);
    }
    executed = runner.execute(in_, out_);
    collected = runner.wait(done, milliseconds(0));
  });
  called.get_future().get();
  runner_.reset();
  EXPECT_EQ(submitted, StatusCode::FAILURE);
  EXPECT_EQ(executed, StatusCode::FAILURE);
  EXPECT_EQ(collected, StatusCode::SUCCESS);
}

TEST_F(FaceCallback, TheLastPointerMayGoInOneWhileOtherJobsAreInFlight) {
  start({{"max_concurrent_runs", 4u}});
  std::atomic<int> called{0};
  std::promise<void> dropped;
  submit([&](const JobHandle&) {
    runner_.reset();
    dropped.set_value();
  });
  for (int i = 0; i < 3; ++i) submit([&](const JobHandle&) { ++called; });
  gate_->release();
  dropped.get_future().get();
  // The next callback of the process comes after those.
  start();
  std::promise<void> last;
  submit([&](const JobHandle&) { last.set_value(); });
  last.get_future().get();
  EXPECT_EQ(called, 3);
}

}  // namespace
}  // namespace millrace::vartml
