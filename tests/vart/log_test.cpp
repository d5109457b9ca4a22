// The lines of runners in the log: log_level, debug and name.
#include <gmock/gmock.h>

#include <future>

#include "tests/support/log_capture.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;
using Lines = std::vector<std::string>;

class RunnerLogTest : public RunnerTest {
 protected:
  // The lines about a runner that lives for one job and one call that is refused.
  Lines lines_of(Options options, LogLevel sink = LogLevel::kDebug) {
    const test::LogCapture log(sink);
    {
      const std::shared_ptr<Runner> runner = make_runner(options);
      Tensors in = inputs(*runner), out = outputs(*runner), none;
      EXPECT_EQ(runner->wait(runner->execute_async(in, out), kForever), StatusCode::SUCCESS);
      EXPECT_EQ(runner->execute(none, out), StatusCode::INVALID_INPUT);
    }
    return log.lines();
  }
};

TEST_F(RunnerLogTest, InfoIsTheDefaultAndConcernsTheRunnerNotItsJobs) {
  EXPECT_THAT(lines_of({}),
              ElementsAre(AllOf(StartsWith("INFO VAIML-Runner: created"), HasSubstr("tiny.rai"),
                                HasSubstr("input view HW"), HasSubstr("at most 2")),
                          HasSubstr("ERROR VAIML-Runner: INVALID_INPUT")));
}

TEST_F(RunnerLogTest, LinesCarryTheNameOfTheirRunner) {
  const Lines lines = lines_of({{"name", std::string("left eye")}, {"debug", true}});
  EXPECT_THAT(lines, Not(IsEmpty()));
  EXPECT_THAT(lines, Each(HasSubstr(" left eye: ")));
}

TEST_F(RunnerLogTest, DebugHasLinesOfEveryJobInOrder) {
  const Options level = {{"log_level", std::string("DEBUG")}};
  const Options both = {{"log_level", std::string("ERROR")}, {"debug", true}};
  for (const Options& options : {level, both}) {
    const test::LogCapture log;
    {
      const std::shared_ptr<Runner> runner = make_runner(options);
      Tensors in = inputs(*runner), out = outputs(*runner);
      EXPECT_EQ(runner->wait(runner->execute_async(in, out), kForever), StatusCode::SUCCESS);
    }
    EXPECT_THAT(
        log.lines(),
        ElementsAre(HasSubstr("created"), MatchesRegex("DEBUG .*: job 1 submitted: frames 1"),
                    MatchesRegex("DEBUG .*: job 1 completed: SUCCESS: [0-9]+ us in the queue, "
                                 "[0-9]+ us on the device, [0-9]+ us until the callback"),
                    "DEBUG VAIML-Runner: destroyed after 1 jobs"));
  }
}

TEST_F(RunnerLogTest, DebugHasLinesOfSynchronousRunsAndKeepsCallbacks) {
  const test::LogCapture log;
  StatusCode seen = StatusCode::JOB_PENDING;
  {
    const std::shared_ptr<Runner> runner = make_runner({{"debug", true}}, {.batch_size = 2});
    Tensors in = inputs(*runner, 2), out = outputs(*runner, 2);
    EXPECT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
    const JobHandle started =
        runner->execute_async(in, out, [&](const JobHandle& job) { seen = job.status; });
    EXPECT_EQ(runner->wait(started, kForever), StatusCode::SUCCESS);
  }
  EXPECT_EQ(seen, StatusCode::SUCCESS);
  EXPECT_THAT(log.lines(),
              Contains(MatchesRegex(".*: execute completed: SUCCESS: [0-9]+ us in the queue, "
                                    "[0-9]+ us on the device, frames 2")));
  EXPECT_THAT(log.lines(), Contains(HasSubstr("job 1 completed")));
}

TEST_F(RunnerLogTest, QuieterLevelsPassLessOn) {
  for (const char* level : {"WARNING", "ERROR"})
    EXPECT_THAT(lines_of({{"log_level", level}}), ElementsAre(StartsWith("ERROR"))) << level;
  const Options nowhere = {{"log_level", "ERROR"}, {"input_tensor_type.nosuch", "CPU"}};
  EXPECT_THAT(lines_of(nowhere), Not(Contains(HasSubstr("nosuch"))));
}

TEST_F(RunnerLogTest, TheSinkOfTheProcessBoundsEveryRunner) {
  EXPECT_THAT(lines_of({{"debug", true}}, LogLevel::kError), ElementsAre(StartsWith("ERROR")));
}

TEST_F(RunnerLogTest, FollowsTheVariableOfTheProcessUnlessTheOptionIsGiven) {
  setenv("MILLRACE_LOG", "Debug", 1);
  const Lines followed = lines_of({}), given = lines_of({{"log_level", "INFO"}});
  unsetenv("MILLRACE_LOG");
  EXPECT_THAT(followed, Contains(HasSubstr("DEBUG VAIML-Runner: job 1 submitted")));
  EXPECT_THAT(given, Not(Contains(StartsWith("DEBUG"))));
}

TEST_F(RunnerLogTest, SaysWhyAWaitWasRefused) {
  const test::LogCapture log(LogLevel::kError);
  const std::shared_ptr<Runner> runner = make_runner();
  EXPECT_EQ(runner->wait({StatusCode::SUCCESS, 77}, kForever), StatusCode::INVALID_JOB_ID);
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("INVALID_JOB_ID: job 77: no such job")));
}

class RunnerLogOfAFullRunner : public GatedRunnerTest {};

TEST_F(RunnerLogOfAFullRunner, SaysSoAtDebugAndNothingOfPolls) {
  const test::LogCapture log;
  const std::shared_ptr<Runner> runner =
      make_runner({{"max_concurrent_runs", 1}, {"log_level", "DEBUG"}});
  Tensors in = inputs(*runner), out = outputs(*runner);
  const JobHandle job = runner->execute_async(in, out);
  EXPECT_EQ(runner->execute_async(in, out).status, StatusCode::RESOURCE_UNAVAILABLE);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(runner->wait(job, std::chrono::milliseconds(0)), StatusCode::JOB_PENDING);
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("created"), HasSubstr("job 1 submitted"),
                                       MatchesRegex("DEBUG .*job refused: max_concurrent_runs.*")));
  gate_->release();
}

TEST_F(RunnerLogTest, SaysWhyARunnerThatIsDestroyedTakesNoJobs) {
  const test::LogCapture log(LogLevel::kError);
  std::shared_ptr<Runner> owner = make_runner();
  Runner& runner = *owner;
  Tensors in = inputs(runner), out = outputs(runner);
  std::promise<void> called;
  runner.execute_async(in, out, [&](const JobHandle&) {
    called.set_value();
    while (runner.execute(in, out) == StatusCode::SUCCESS) {
    }
  });
  called.get_future().get();
  owner.reset();
  EXPECT_THAT(log.lines(), ElementsAre(MatchesRegex("ERROR VAIML-Runner: FAILURE: .+")));
}

// Without a sink, lines go to standard error. Each in a process of its own, where no sink was ever
// set.
class RunnerLogDeathTest : public RunnerTest {
 protected:
  RunnerLogDeathTest() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }

  void refused_call(const Options& options) {
    {
      const std::shared_ptr<Runner> runner = make_runner(options);
      Tensors in = inputs(*runner), out = outputs(*runner), none;
      runner->execute(in, out);
      runner->execute(none, out);
    }
    std::_Exit(0);
  }
  void refused_call_with(const char* variable, const Options& options) {
    setenv("MILLRACE_LOG", variable, 1);
    refused_call(options);
  }

  static constexpr const char* kCreatedAndRefused =
      "^.INFO. vart: VAIML-Runner: created [^\n]*\n"
      ".ERROR. vart: VAIML-Runner: INVALID_INPUT[^\n]*\n$";
  static constexpr const char* kRefusal = "^.ERROR. vart: VAIML-Runner: INVALID_INPUT[^\n]*\n$";
  const testing::ExitedWithCode exits_{0};
};

TEST_F(RunnerLogDeathTest, ALevelThatIsAskedForGoesToStandardError) {
  EXPECT_EXIT(refused_call({{"log_level", "INFO"}}), exits_, kCreatedAndRefused);
  EXPECT_EXIT(refused_call({{"log_level", "ERROR"}}), exits_, kRefusal);
  EXPECT_EXIT(refused_call({{"debug", true}}), exits_, "DEBUG. vart: .*execute completed");
}

TEST_F(RunnerLogDeathTest, InfoIsTheDefault) {
  EXPECT_EXIT(refused_call({}), exits_, kCreatedAndRefused);
  EXPECT_EXIT(refused_call({{"debug", false}, {"max_concurrent_runs", 1}}), exits_,
              kCreatedAndRefused);
}

TEST_F(RunnerLogDeathTest, WithoutBeingAskedEachReasonIsPrintedOnce) {
  const auto fail_in_two_ways_again_and_again = [this] {
    {
      const std::shared_ptr<Runner> runner = make_runner();
      Tensors none;
      for (uint32_t i = 0; i < 3; ++i) {
        runner->execute(none, none);
        runner->wait({StatusCode::SUCCESS, 77 + i}, kForever);
      }
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(fail_in_two_ways_again_and_again(), exits_,
              "^.INFO. vart: VAIML-Runner: created [^\n]*\n"
              ".ERROR. vart: VAIML-Runner: INVALID_INPUT[^\n]*\n"
              ".ERROR. vart: VAIML-Runner: INVALID_JOB_ID: job 77[^\n]*\n$");
}

TEST_F(RunnerLogDeathTest, TheVariableSilencesErrors) {
  EXPECT_EXIT(refused_call_with("off", {}), exits_, "^$");
  EXPECT_EXIT(refused_call_with("OFF", {{"debug", true}}), exits_, "^$");
}

class FullRunnerDeathTest : public GatedRunnerTest {
 protected:
  FullRunnerDeathTest() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

TEST_F(FullRunnerDeathTest, DoesNotPrintBackPressure) {
  const auto submit_too_many = [this] {
    {
      const std::shared_ptr<Runner> runner = make_runner({{"max_concurrent_runs", 1}});
      Tensors in = inputs(*runner), out = outputs(*runner);
      runner->execute_async(in, out);
      const JobHandle second = runner->execute_async(in, out);
      gate_->release();
      if (second.status != StatusCode::RESOURCE_UNAVAILABLE) std::_Exit(1);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(submit_too_many(), testing::ExitedWithCode(0),
              "^.INFO. vart: VAIML-Runner: created [^\n]*\n$");
}

TEST_F(RunnerLogDeathTest, TheVariableTakesPrecedence) {
  EXPECT_EXIT(refused_call_with("error", {{"log_level", "DEBUG"}}), exits_, kRefusal);
  EXPECT_EXIT(refused_call_with("debug", {{"log_level", "ERROR"}}), exits_, kRefusal);
}

TEST_F(RunnerLogTest, LevelsArePerRunner) {
  const test::LogCapture log;
  make_runner({{"name", "loud"}});
  make_runner({{"name", "quiet"}, {"log_level", "ERROR"}});
  EXPECT_THAT(log.lines(), AllOf(Not(IsEmpty()), Each(HasSubstr(" loud: "))));
}

}  // namespace
}  // namespace millrace::vartml
