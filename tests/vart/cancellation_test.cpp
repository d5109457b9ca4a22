// Threads of the program that are cancelled inside the library: the calls must not throw, so that
// they end first, and the cancellation takes effect afterwards.
#include <gtest/gtest.h>

#include "tests/support/cancelled_thread.h"
#include "tests/support/log_capture.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using test::CancelledThread;

class CancelledIn : public GatedRunnerTest {};

TEST_F(CancelledIn, AWaitGetsItsResultFirst) {
  const std::shared_ptr<Runner> runner = make_runner();
  Tensors in = inputs(*runner), out = outputs(*runner);
  const JobHandle job = runner->execute_async(in, out);
  const JobHandle other = runner->execute_async(in, out);
  StatusCode status = StatusCode::JOB_PENDING;
  CancelledThread waiting([&] { status = runner->wait(job, kForever); });
  CancelledThread impatient([&] {
    EXPECT_EQ(runner->wait(other, std::chrono::milliseconds(1)), StatusCode::JOB_PENDING);
  });
  EXPECT_TRUE(impatient.ended_after_the_call());
  gate_->release();
  EXPECT_TRUE(waiting.ended_after_the_call());
  EXPECT_EQ(status, StatusCode::SUCCESS);
  EXPECT_EQ(runner->wait(other, kForever), StatusCode::SUCCESS) << "left by the one that gave up";
}

TEST_F(CancelledIn, AnExecuteRunsItsJobFirst) {
  const std::shared_ptr<Runner> runner = make_runner({{"max_concurrent_runs", 1u}});
  Tensors in = inputs(*runner), out = outputs(*runner);
  StatusCode on_its_thread = StatusCode::JOB_PENDING, in_the_queue = on_its_thread;
  CancelledThread first([&] { on_its_thread = runner->execute(in, out); });
  gate_->await_arrivals(1);
  CancelledThread second([&] { in_the_queue = runner->execute(in, out); });
  gate_->release();
  EXPECT_TRUE(first.ended_after_the_call());
  EXPECT_TRUE(second.ended_after_the_call());
  EXPECT_EQ(on_its_thread, StatusCode::SUCCESS);
  EXPECT_EQ(in_the_queue, StatusCode::SUCCESS);
  EXPECT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
}

TEST_F(CancelledIn, ARefusalIsLogged) {
  const test::LogCapture log;
  const std::shared_ptr<Runner> runner = make_runner();
  Tensors none;
  CancelledThread refused([&] { runner->execute(none, none); });
  EXPECT_TRUE(refused.ended_after_the_call());
  EXPECT_GE(log.count("INVALID_INPUT"), 1u);
}

// The life lasts from the model's file to the last thread that is joined.
TEST_F(CancelledIn, ALifeOfARunner) {
  gate_->release();
  const std::string path = model();
  StatusCode waited = StatusCode::JOB_PENDING;
  CancelledThread whole([&] {
    const auto runner = RunnerFactory::create_runner(RunnerType::VAIML, path, {});
    Tensors in = inputs(*runner), out = outputs(*runner);
    waited = runner->wait(runner->execute_async(in, out, [](const JobHandle&) {}), kForever);
  });
  EXPECT_TRUE(whole.ended_after_the_call());
  EXPECT_EQ(waited, StatusCode::SUCCESS);
}

// The runner closes while a job runs, and then delivers its callback.
TEST_F(CancelledIn, ADestructorWaitsFirst) {
  std::shared_ptr<Runner> runner = make_runner();
  Tensors in = inputs(*runner), out = outputs(*runner);
  bool called = false;
  const JobHandle job = runner->execute_async(in, out, [&](const JobHandle&) { called = true; });
  ASSERT_EQ(job.status, StatusCode::SUCCESS);
  gate_->await_arrivals(1);
  CancelledThread closing([&] { runner.reset(); });
  gate_->release();
  EXPECT_TRUE(closing.ended_after_the_call());
  EXPECT_TRUE(called);
}

}  // namespace
}  // namespace millrace::vartml
