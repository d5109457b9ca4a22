// What runners say on the log sink: log_level, debug and name.
#include <gmock/gmock.h>

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

TEST_F(RunnerLogTest, InfoIsTheDefaultAndTellsOfTheRunnerNotOfItsJobs) {
  EXPECT_THAT(lines_of({}),
              ElementsAre(AllOf(StartsWith("INFO VAIML-Runner: created"), HasSubstr("tiny.rai"),
                                HasSubstr("input view HW"), HasSubstr("at most 2")),
                          HasSubstr("ERROR VAIML-Runner: INVALID_INPUT"),
                          "INFO VAIML-Runner: destroyed after 1 jobs"));
}

TEST_F(RunnerLogTest, LinesCarryTheNameOfTheirRunner) {
  const Lines lines = lines_of({{"name", std::string("left eye")}, {"debug", true}});
  EXPECT_THAT(lines, Not(IsEmpty()));
  EXPECT_THAT(lines, Each(HasSubstr(" left eye: ")));
}

TEST_F(RunnerLogTest, DebugTellsOfEveryJobInOrder) {
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
                    MatchesRegex("DEBUG .*: job 1 completed: SUCCESS after [0-9]+ us"),
                    HasSubstr("destroyed")));
  }
}

TEST_F(RunnerLogTest, DebugTellsOfSynchronousRunsAndKeepsCallbacks) {
  const test::LogCapture log;
  StatusCode told = StatusCode::JOB_PENDING;
  {
    const std::shared_ptr<Runner> runner = make_runner({{"debug", true}}, {.batch_size = 2});
    Tensors in = inputs(*runner, 2), out = outputs(*runner, 2);
    EXPECT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
    const JobHandle started =
        runner->execute_async(in, out, [&](const JobHandle& job) { told = job.status; });
    EXPECT_EQ(runner->wait(started, kForever), StatusCode::SUCCESS);
  }
  EXPECT_EQ(told, StatusCode::SUCCESS);
  EXPECT_THAT(log.lines(),
              Contains(MatchesRegex(".*: execute completed: SUCCESS after [0-9]+ us, frames 2")));
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

TEST_F(RunnerLogTest, LevelsArePerRunner) {
  const test::LogCapture log;
  make_runner({{"name", "loud"}});
  make_runner({{"name", "quiet"}, {"log_level", "ERROR"}});
  EXPECT_THAT(log.lines(), AllOf(Not(IsEmpty()), Each(HasSubstr(" loud: "))));
}

}  // namespace
}  // namespace millrace::vartml
