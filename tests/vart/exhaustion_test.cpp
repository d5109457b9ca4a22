// Tests the face while the system refuses threads.
#include <atomic>
#include <exception>
#include <thread>

#include "tests/support/thread_refusal.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

class Exhaustion : public RunnerTest {
 protected:
  Exhaustion() { use_device("null"); }

  StatusCode run(Runner& runner) {
    Tensors out = outputs(runner);
    return runner.execute(inputs(runner), out);
  }
};

TEST_F(Exhaustion, OfThreadsLetsNoRunnerBeMadeUntilThereAreSome) {
  {
    const test::ThreadRefusal refusal;
    EXPECT_THROW(make_runner(), std::exception);
    EXPECT_THROW(make_runner(), std::exception);
  }
  const std::shared_ptr<Runner> runner = make_runner();
  EXPECT_EQ(run(*runner), StatusCode::SUCCESS);
}

TEST_F(Exhaustion, OfThreadsRefusesAJobWithACallbackUntilThereAreSome) {
  const std::shared_ptr<Runner> runner = make_runner();
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  std::atomic<int> callbacks{0};
  const auto count = [&](const JobHandle&) { ++callbacks; };
  {
    const test::ThreadRefusal refusal;
    const JobHandle refused = runner->execute_async(in, out, count);
    EXPECT_NE(refused.status, StatusCode::SUCCESS);
    EXPECT_EQ(refused.job_id, 0u);
  }
  const JobHandle job = runner->execute_async(in, out, count);
  ASSERT_EQ(job.status, StatusCode::SUCCESS);
  EXPECT_EQ(runner->wait(job, kForever), StatusCode::SUCCESS);
  while (callbacks == 0) std::this_thread::yield();
  EXPECT_EQ(callbacks, 1);
}

}  // namespace
}  // namespace millrace::vartml
