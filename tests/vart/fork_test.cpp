// Forked children of a program that uses the library: every call is refused, and the child may
// destroy what it has and end.
#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/run_in_child.h"
#include "tests/support/subprocess.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using test::run_in_child;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class FaceFork : public GatedRunnerTest {
 protected:
  // Runs in the child: a failure here fails the child.
  void expect_refused(Runner& runner, const JobHandle& job) {
    EXPECT_EQ(runner.execute(in_, out_), StatusCode::RUNTIME_ERROR);
    EXPECT_EQ(runner.execute_async(in_, out_).status, StatusCode::RUNTIME_ERROR);
    EXPECT_EQ(runner.execute_async(in_, out_, [](const JobHandle&) {}).status,
              StatusCode::RUNTIME_ERROR);
    EXPECT_EQ(runner.wait(job, kForever), StatusCode::RUNTIME_ERROR);
    const NpuTensorInfo info = in_[0][0].get_info();
    EXPECT_THAT([&] { runner.allocate_npu_tensor(info); },
                ThrowsMessage<std::runtime_error>(HasSubstr("forked")));
    EXPECT_THAT([&] { runner.allocate_sub_tensor(in_[0][0], info, 0); },
                ThrowsMessage<std::runtime_error>(HasSubstr("forked")));
    EXPECT_THAT([&] { RunnerFactory::create_runner(RunnerType::VAIML, "no.rai", {}); },
                ThrowsMessage<std::runtime_error>(HasSubstr("forked")));
  }
  static int exit_code() { return HasFailure() ? 1 : 0; }

  Tensors in_, out_;
};

TEST_F(FaceFork, AChildIsRefusedAndDestroysWhatItHas) {
  std::shared_ptr<Runner> runner = make_runner();
  in_ = inputs(*runner);
  out_ = outputs(*runner);
  std::promise<StatusCode> called;
  const JobHandle job = runner->execute_async(
      in_, out_, [&](const JobHandle& done) { called.set_value(done.status); });
  const JobHandle queued = runner->execute_async(in_, out_);
  gate_->await_arrivals(2);
  EXPECT_EQ(run_in_child([&] {
              expect_refused(*runner, job);
              EXPECT_EQ(runner->get_num_input_tensors(), 1u);
              runner.reset();
              in_.clear();
              out_.clear();
              device_.reset();
              return exit_code();
            }),
            0);
  gate_->release();
  EXPECT_EQ(called.get_future().get(), StatusCode::SUCCESS);
  EXPECT_EQ(runner->wait(job, kForever), StatusCode::SUCCESS);
  EXPECT_EQ(runner->wait(queued, kForever), StatusCode::SUCCESS);
  EXPECT_EQ(runner->execute(in_, out_), StatusCode::SUCCESS);
}

// Objects with static storage are destroyed by exit().
TEST_F(FaceFork, AChildMayExitWithARunnerWhileAThreadWaitsAndACallbackRuns) {
  static std::shared_ptr<Runner> runner;
  static Tensors in, out;
  runner = make_runner();
  in = inputs(*runner);
  out = outputs(*runner);
  gate_->let_through(1);
  std::promise<void> inside, go_on;
  const JobHandle first = runner->execute_async(
      in, out, [&inside, proceed = go_on.get_future().share()](const JobHandle&) {
        inside.set_value();
        proceed.get();
      });
  inside.get_future().get();
  const JobHandle second = runner->execute_async(in, out);
  // The other threads have come to rest: one that started or allocated during the fork could hold a
  // lock of AddressSanitizer, which the child would then find locked for ever.
  gate_->await_arrivals(2);
  std::promise<void> started;
  std::thread waiting([&] {
    started.set_value();
    EXPECT_EQ(runner->wait(second, kForever), StatusCode::SUCCESS);
  });
  started.get_future().get();
  EXPECT_EQ(run_in_child([] { return 7; }), 7);
  go_on.set_value();
  gate_->release();
  waiting.join();
  EXPECT_EQ(runner->wait(first, kForever), StatusCode::SUCCESS);
  out.clear();
  in.clear();
  runner.reset();
}

// At any moment some of these threads hold locks of the library; none exists in the children.
TEST_F(FaceFork, ChildrenOfABusyProgramEnd) {
  if (*MILLRACE_SANITIZE != '\0')
    GTEST_SKIP() << "a child may find a lock of the sanitizer's own allocator locked for ever";
  gate_->release();
  std::shared_ptr<Runner> runner = make_runner({{"max_concurrent_runs", 8u}});
  in_ = inputs(*runner);
  out_ = outputs(*runner);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    while (!stop) {
      const JobHandle job = runner->execute_async(in_, out_, [](const JobHandle&) {});
      if (job.status == StatusCode::SUCCESS) runner->wait(job, kForever);
    }
  });
  threads.emplace_back([&] {
    while (!stop) inputs(*runner);
  });
  threads.emplace_back([&] {
    const std::string path = directory_.file("tiny.rai");
    while (!stop) RunnerFactory::create_runner(RunnerType::VAIML, path, {});
  });
  std::vector<std::thread> forking;
  for (int i = 0; i < 2; ++i)
    forking.emplace_back([&] {
      for (int round = 0; round < 15; ++round)
        EXPECT_EQ(run_in_child([&] {
                    expect_refused(*runner, {});
                    runner.reset();
                    in_.clear();
                    out_.clear();
                    return exit_code();
                  }),
                  0);
    });
  for (std::thread& thread : forking) thread.join();
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runner->execute(in_, out_), StatusCode::SUCCESS);
}

TEST_F(FaceFork, AChildThatExecsIsOneOfItsOwn) {
  const std::shared_ptr<Runner> runner = make_runner();
  EXPECT_EQ(test::run_program({MILLRACE_INFER_ASYNC, "--help"}, directory_.path()).exit_code, 0);
}

// In a process that has not used the library before.
TEST_F(RunnerTest, BothSidesOfAForkMayUseTheLibraryAfterIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto use = [this] {
    const std::shared_ptr<Runner> runner = make_runner();
    Tensors in = inputs(*runner), out = outputs(*runner);
    return runner->execute(in, out) == StatusCode::SUCCESS ? 0 : 1;
  };
  EXPECT_EXIT(std::exit(run_in_child(use) + use()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace millrace::vartml
