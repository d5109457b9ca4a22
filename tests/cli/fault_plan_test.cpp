// `millrace faults`: what it says about plans, and that programs then meet just that.
#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class FaultPlanCommand : public CliTest {
 protected:
  std::string explained(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "faults");
    const ProgramResult result = millrace(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
};

TEST_F(FaultPlanCommand, SaysWhichJobsFailAndWhatEachApiSees) {
  EXPECT_THAT(explained({"fail:jobs=5-9,model=glyphs,p=0.5%,status=1201"}),
              AllOf(HasSubstr("Jobs 5 to 9, if of model \"glyphs\", fail instead of running, "
                              "each with a probability of 0.5 %."),
                    HasSubstr("native API or Python sees DEVICE_FAILED, one of VART RUNTIME_ERROR, "
                              "one of NRT NRT_EXEC_HW_ERR_HBM_UE (1201)."),
                    HasSubstr("degraded"), HasSubstr("Seed 0 ")));
  EXPECT_THAT(explained({"oom:jobs=7"}),
              AllOf(HasSubstr("Job 7 fails instead"), HasSubstr("VART OUT_OF_MEMORY"),
                    HasSubstr("The unit goes on."), Not(HasSubstr("Seed"))));
  EXPECT_THAT(explained({"fail_every=3,status=INTERNAL"}),
              AllOf(HasSubstr("Jobs 3, 6 and so on fail"), HasSubstr("INTERNAL")));
}

TEST_F(FaultPlanCommand, SaysWhatElseHappens) {
  EXPECT_THAT(explained({"slow:for=1500us,after=10"}),
              HasSubstr("Jobs from 11 on take 1500 us longer"));
  EXPECT_THAT(explained({"hang:jobs=2,unit=video"}),
              AllOf(HasSubstr("Job 2 of unit \"video\" blocks for ever"),
                    HasSubstr("MILLRACE_WATCHDOG"), HasSubstr("counted on their own")));
  EXPECT_THAT(explained({"nan:output=scores"}),
              AllOf(HasSubstr("All jobs run, and output \"scores\" is then filled with NaN"),
                    HasSubstr("NEURON_FAIL_ON_NAN")));
  EXPECT_THAT(explained({"fail:jobs=3,status=NRT_EXEC_HW_ERR_DMA_ABORT", "--transfers"}),
              AllOf(HasSubstr("Transfer 3 fails"), HasSubstr("NRT_EXEC_HW_ERR_DMA_ABORT (1203)"),
                    Not(HasSubstr("VART"))));
  EXPECT_THAT(explained({"full:jobs=2-3"}),
              AllOf(HasSubstr("Calls 2 to 3 that submit a job find the queue full."),
                    HasSubstr("VART RESOURCE_UNAVAILABLE")));
  EXPECT_THAT(explained({"oom:allocs=3"}),
              AllOf(HasSubstr("Allocation 3 of memory for tensors is refused."),
                    HasSubstr("NRT_RESOURCE (4)")));
  EXPECT_THAT(explained({"full@video:0.1%"}),
              AllOf(HasSubstr("full@video:0.1%\n"),
                    HasSubstr("All calls of unit \"video\" that submit a job find the queue full, "
                              "each with a probability of 0.1 %."),
                    HasSubstr("calls for that unit are counted on their own")));
  EXPECT_THAT(
      explained({"fdloss:after=10"}),
      AllOf(HasSubstr("Uses from 11 on of file descriptors fail."), HasSubstr("NRT_RESOURCE (4)")));
  EXPECT_THAT(explained({"slow@p99:20ms"}),
              HasSubstr("All jobs take 20 ms longer, each with a probability of 1 %."));
  EXPECT_THAT(explained({"slow@p99:2ms,9ms"}),
              AllOf(HasSubstr("All jobs take longer, 2 ms on average and 9 ms in the 99th "
                              "percentile."),
                    HasSubstr("log-normal"), HasSubstr("Seed 0 ")));
  EXPECT_THAT(explained({"nan:jobs=3"}),
              StartsWith("What MILLRACE_FAULTS does with this plan:\nnan:jobs=3\n    Job 3 runs"));
  EXPECT_THAT(explained({"fail:jobs=3", "--transfers"}),
              StartsWith("What MILLRACE_TRANSFER_FAULTS does "));
  EXPECT_EQ(explained({""}), "no faults\n");
}

TEST_F(FaultPlanCommand, ListsTheFaultsOfTheFirstJobs) {
  EXPECT_EQ(explained({"fail:jobs=2;slow:every=2,for=2ms", "--jobs", "5"}),
            explained({"fail:jobs=2;slow:every=2,for=2ms"}) +
                "\n"
                "What happens to the first 5 jobs:\n"
                "job 2: takes 2 ms longer, fails with DEVICE_FAILED (VART RUNTIME_ERROR, NRT "
                "NRT_HW_ERROR)\n"
                "job 4: takes 2 ms longer\n"
                "2 of 5 jobs have a fault\n");
  EXPECT_THAT(explained({"fail:model=glyphs", "--jobs", "5"}),
              AllOf(HasSubstr("0 of 5 jobs"), HasSubstr("--model say")));
  EXPECT_THAT(explained({"fail:model=glyphs", "--jobs", "5", "--model", "glyphs"}),
              HasSubstr("5 of 5 jobs"));
}

TEST_F(FaultPlanCommand, NamesTheWordThatMakesNoSense) {
  expect_wrong_command_line(millrace({"faults", "fial:jobs=3"}), "no action \"fial\"");
  expect_wrong_command_line(millrace({"faults", "fail:jobs=x"}), "jobs: \"x\"");
  expect_wrong_command_line(millrace({"faults", "nan:", "--transfers"}), "no outputs");
  expect_wrong_command_line(millrace({"faults"}), "plan");
}

// The tool itself is such a program: the job that is listed is the one that fails.
TEST_F(FaultPlanCommand, ForeseesWhatProgramsMeet) {
  const std::string plan = "fail:p=5%,model=glyphs;seed=3";
  const std::string list = explained({plan, "--jobs", "1000", "--model", "glyphs"});
  const uint64_t first = std::stoull(list.substr(list.find("\njob ") + 5));
  ASSERT_GT(first, 4u);
  ::setenv("MILLRACE_FAULTS", plan.c_str(), 1);
  expect_failure(millrace({"bench", kGlyphsOnnx, "--device", "null", "--scenario", "single-stream",
                           "--warmup", std::to_string(first - 1), "-n", "1"}),
                 "single-stream, job 1: an injected fault");
  ::unsetenv("MILLRACE_FAULTS");
}

}  // namespace
}  // namespace millrace::test
