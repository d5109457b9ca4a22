// MILLRACE_WATCHDOG: jobs of runners that hang are given up.
#include <gmock/gmock.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <thread>

#include "tests/support/log_capture.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::HasSubstr;

class RunnerWatchdog : public GatedRunnerTest {
 protected:
  RunnerWatchdog() {
    gate_->release();
    gate_->hang_nth(1);
  }
  // Threads that were set aside keep the device, with what it has counted, until they are through;
  // the next test wants one of its own.
  ~RunnerWatchdog() override {
    unsetenv("MILLRACE_WATCHDOG");
    test::let_everything_go(*gate_);
    const std::weak_ptr<device::Device> device = device_;
    device_.reset();
    while (!device.expired()) std::this_thread::yield();
  }

  std::shared_ptr<Runner> watched_runner() {
    setenv("MILLRACE_WATCHDOG", "400ms", 1);
    return make_runner();
  }
};

TEST_F(RunnerWatchdog, GivesUpASynchronousRunThatHangsAndGoesOn) {
  const std::shared_ptr<Runner> runner = watched_runner();
  Tensors in = inputs(*runner), out = outputs(*runner);
  const test::LogCapture log;
  EXPECT_EQ(runner->execute(in, out), StatusCode::RUNTIME_ERROR);
  EXPECT_EQ(log.count("VAIML-Runner: RUNTIME_ERROR: job "), 1u) << "with what the watchdog saw";
  EXPECT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
}

TEST_F(RunnerWatchdog, GivesUpAJobThatHangsAndEndsItsWaitAndCallsBack) {
  const std::shared_ptr<Runner> runner = watched_runner();
  Tensors in = inputs(*runner), out = outputs(*runner);
  std::promise<StatusCode> called;
  const JobHandle hung =
      runner->execute_async(in, out, [&](const JobHandle& job) { called.set_value(job.status); });
  EXPECT_EQ(runner->wait(hung, kForever), StatusCode::RUNTIME_ERROR);
  EXPECT_EQ(called.get_future().get(), StatusCode::RUNTIME_ERROR);
  EXPECT_EQ(runner->wait(runner->execute_async(in, out), kForever), StatusCode::SUCCESS);
}

TEST_F(RunnerWatchdog, LimitsHowLongTheEndOfARunnerWaits) {
  std::shared_ptr<Runner> runner = watched_runner();
  Tensors in = inputs(*runner), out = outputs(*runner);
  std::promise<StatusCode> reported;
  runner->execute_async(in, out, [&](const JobHandle& job) { reported.set_value(job.status); });
  gate_->await_hangs(1);
  const test::LogCapture log;
  runner.reset();
  EXPECT_EQ(reported.get_future().get(), StatusCode::RUNTIME_ERROR);
  EXPECT_GE(log.count("made no progress for 400 ms in frame 0"), 1u) << "not for 10 s";
  EXPECT_EQ(log.count("operator 0 (Pattern \"fill\")"), log.count("in frame 0"));
  EXPECT_LE(log.count("the close of the unit waits for it"), 1u);
}

TEST_F(RunnerWatchdog, IsOffWithoutTheVariable) {
  const std::shared_ptr<Runner> runner = make_runner();
  Tensors in = inputs(*runner), out = outputs(*runner);
  const JobHandle job = runner->execute_async(in, out);
  gate_->await_hangs(1);
  EXPECT_EQ(runner->wait(job, std::chrono::milliseconds(0)), StatusCode::JOB_PENDING);
  gate_->end_hangs();
  EXPECT_EQ(runner->wait(job, kForever), StatusCode::SUCCESS);
}

TEST_F(RunnerWatchdog, TakesDurationsWithAUnitOnly) {
  setenv("MILLRACE_WATCHDOG", "10", 1);
  try {
    make_runner();
    FAIL() << "10 of what?";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("MILLRACE_WATCHDOG: \"10\" is no duration"));
  }
}

}  // namespace
}  // namespace millrace::vartml
