// The samples of the NRT face, as their users see them.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/samples/sample_fixture.h"

namespace millrace::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr const char* kEnv = "/usr/bin/env";

class NrtLoadRun : public SampleTest {
 protected:
  ProgramResult run(const std::vector<std::string>& arguments) const {
    return SampleTest::run(MILLRACE_NRT_LOAD_RUN, arguments);
  }
};

TEST_F(NrtLoadRun, DescribesTheTensorsAndTimesExecutions) {
  const ProgramResult result = run({"-n", "3", model()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, ContainsRegex("input +data +192 bytes, float32, shape 1x3x4x4\n"));
  EXPECT_THAT(result.out, ContainsRegex("output +probs +640 bytes, float32, shape 1x10x4x4\n"));
  EXPECT_THAT(result.out, ContainsRegex("\n3 executions, [0-9.]+ ms each, fastest [0-9.]+ ms\n"));
  EXPECT_THAT(files(), IsEmpty());
}

// Opening such a pipe would wait for a writer.
TEST_F(NrtLoadRun, WaitsForNoPipeThatNobodyWritesTo) {
  const std::string pipe = directory_.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(run({"-i", "data=" + pipe, model()}).err, HasSubstr("pipe has 0 bytes"));
  EXPECT_THAT(run({pipe}).err, HasSubstr("nrt_load failed"));
}

TEST_F(NrtLoadRun, ReadsInputsAndWritesOutputs) {
  const std::string input = write("data.bin", std::string(192, '\1'));
  const ProgramResult result = run({"-i", "data=" + input, "-o", ".", model()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("wrote ./probs.bin\n"));
  EXPECT_THAT(files(), UnorderedElementsAre("probs.bin"));
  EXPECT_EQ(size_of("probs.bin"), 640u);
}

TEST_F(NrtLoadRun, SaysWhatIsWrong) {
  const std::string path = model();
  expect_failure(run({"none.rai"}), "none.rai");
  expect_failure(run({write("text.rai", "no archive")}), "nrt_load failed: NRT_INVALID");
  expect_failure(run({"-i", "other=" + path, path}), "no input \"other\"");
  expect_failure(run({"-i", "data=" + write("odd.bin", "abc"), path}),
                 "has 3 bytes, the input \"data\" takes 192");
  expect_failure(run({work_}), work_ + ": Is a directory");
}

TEST_F(NrtLoadRun, NamesTheArgumentThatIsWrong) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{}, "MODEL.rai is missing"},
      {{"a.rai", "b.rai"}, "more than one model: \"b.rai\""},
      {{"-n", "0", "a.rai"}, "-n is \"0\""},
      {{"-i", "data", "a.rai"}, "-i is \"data\": it takes NAME=FILE"},
      {{"-x", "a.rai"}, "'x'"}};
  for (const auto& [arguments, reason] : wrong) {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 2) << reason;
    EXPECT_THAT(result.err, HasSubstr(reason));
    EXPECT_THAT(result.err, HasSubstr("Usage: "));
  }
}

// An unusable output folder is reported before the model is loaded, and not after its execution.
TEST_F(NrtLoadRun, ChecksTheFolderForOutputsFirst) {
  expect_failure(run({"-o", "gone", "none.rai"}), "cannot write into gone: No such file");
  const std::string file = write("file", "");
  expect_failure(run({"-o", file, "none.rai"}), "cannot write into " + file + ": Not a directory");
}

class NrtSampleHelp : public SampleTest, public testing::WithParamInterface<const char*> {};

TEST_P(NrtSampleHelp, IsPrintedOnRequest) {
  for (const char* option : {"-h", "--help"}) {
    const ProgramResult result = run(GetParam(), {option});
    EXPECT_EQ(result.exit_code, 0) << option;
    EXPECT_THAT(result.out, HasSubstr("Usage: "));
    EXPECT_EQ(result.err, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, NrtSampleHelp,
                         testing::Values(MILLRACE_NRT_LOAD_RUN, MILLRACE_NRT_ASYNC_PIPELINE,
                                         MILLRACE_NRT_ERROR_TRACKER, MILLRACE_NRT_SEND_RECV),
                         [](const auto& info) {
                           return std::filesystem::path(info.param).filename().string();
                         });

using NrtAsyncPipeline = SampleTest;

TEST_F(NrtAsyncPipeline, ComputesWhatTheSynchronousLoopDoes) {
  const ProgramResult result = run(MILLRACE_NRT_ASYNC_PIPELINE, {"-n", "20", model()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("results agree: 40 of 40\n"));
  EXPECT_THAT(result.out, ContainsRegex("three in flight are [0-9.]+ times as fast as one"));
}

TEST_F(NrtAsyncPipeline, StopsAtAFailedTransfer) {
  const ProgramResult result = run(
      kEnv, {"MILLRACE_TRANSFER_FAULTS=fail=9", MILLRACE_NRT_ASYNC_PIPELINE, "-n", "20", model()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("failed: NRT_HW_ERROR"));
}

using NrtSendRecv = SampleTest;

TEST_F(NrtSendRecv, ReceivesWhatAnotherProcessComputes) {
  // Tests run side by side, and a port belongs to one of them.
  const std::string port =
      "MILLRACE_NRT_SENDRECV_PORT=" + std::to_string(10'000 + ::getpid() % 5'000 * 2);
  const ProgramResult result = run(kEnv, {port, MILLRACE_NRT_SEND_RECV, "-n", "8", model()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "8 of 8 results received, all as computed here\n");
}

class NrtErrorTracker : public SampleTest {
 protected:
  ProgramResult run(const std::string& faults) const {
    return SampleTest::run(
        kEnv, {"MILLRACE_FAULTS=" + faults, MILLRACE_NRT_ERROR_TRACKER, "-n", "8", model()});
  }
};

TEST_F(NrtErrorTracker, GoesOnInAnotherProcessWhenItsUnitIsLost) {
  const ProgramResult result = run("fail=3");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("request 3 failed: NRT_HW_ERROR\n"));
  EXPECT_THAT(result.out, HasSubstr("attempt 4, from item 7\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("attempt 5")));
  EXPECT_THAT(result.out, HasSubstr("8 of 8 items computed\n"));
}

TEST_F(NrtErrorTracker, ComputesAgainWhatFailedAlone) {
  const ProgramResult result = run("fail=3,status=INTERNAL");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("request 3 failed: NRT_EXEC_COMPLETED_WITH_ERR\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("attempt 2")));
  EXPECT_THAT(result.out, HasSubstr("8 of 8 items computed\n"));
}

// The unit is not degraded, so another process would not help.
TEST_F(NrtErrorTracker, GivesUpAnItemThatFailsThreeTimes) {
  const ProgramResult result = run("fail_every=1,status=INTERNAL");
  EXPECT_EQ(result.exit_code, 65);
  EXPECT_THAT(result.err, HasSubstr("Error: item 1 failed 3 times\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("attempt 2")));
  EXPECT_THAT(result.out, HasSubstr("0 of 8 items computed\n"));
}

// Five items fail, none of them more than twice.
TEST_F(NrtErrorTracker, CountsTheFailuresOfEachItemAlone) {
  const ProgramResult result = run("fail_every=3,status=INTERNAL");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("8 of 8 items computed\n"));
}

TEST_F(NrtErrorTracker, GivesUpAfterThreeProcessesWithoutProgress) {
  const ProgramResult result = run("fail=1");
  EXPECT_EQ(result.exit_code, 75);
  EXPECT_THAT(result.out, HasSubstr("attempt 3, from item 1\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("attempt 4")));
  EXPECT_THAT(result.out, HasSubstr("0 of 8 items computed\n"));
  EXPECT_THAT(result.err, HasSubstr("gave up after 3 attempts without progress"));
}

}  // namespace
}  // namespace millrace::test
