// The checker within this process, where many threads use it at a time.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/log.h"
#include "check/check_state.h"
#include "tests/api/native_fixture.h"

namespace millrace::check {
namespace {

// Starts a checker whose findings go to a string.
class CheckerTest : public test::NativeApi {
 protected:
  CheckerTest() {
    set_log_sink([this](LogLevel, std::string_view, std::string_view line) {
      log_ += std::string(line) + '\n';
    });
    checker().slow_callback_ns = int64_t{3'600'000'000'000};
    EXPECT_TRUE(start_checking().ok());
  }
  ~CheckerTest() override {
    stop_checking();
    set_log_sink({});
  }

  std::string log_;
};

TEST_F(CheckerTest, FindsNothingInJobsOfManyThreads) {
  test::let_everything_go(faults());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      Unit unit = make_unit({.depth = 2});
      test::JobMemory memory(model_);
      for (int i = 0; i < 100; ++i) {
        Job job = unit.submit(model_, memory.args()).value();
        EXPECT_TRUE(job.wait().ok());
        EXPECT_TRUE(unit.execute(model_, memory.args()).ok());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(log_, "");
}

TEST_F(CheckerTest, NamesJobsTensorsAndCalls) {
  Unit unit = make_unit({.depth = 2});
  Job first = submit(unit), second = submit(unit);
  test::let_everything_go(faults());
  EXPECT_TRUE(first.wait().ok());
  EXPECT_TRUE(second.wait().ok());
  EXPECT_NE(log_.find("shared_output: output \"probs\" of job "), std::string::npos) << log_;
  EXPECT_NE(log_.find("was submitted here"), std::string::npos) << log_;
  EXPECT_NE(log_.find("to fix it: "), std::string::npos) << log_;
}

}  // namespace
}  // namespace millrace::check
