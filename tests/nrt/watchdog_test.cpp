// MILLRACE_WATCHDOG: requests that hang are given up before the execution timeout, and the log
// names them as the program knows them.
#include <fmt/format.h>

#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"
#include "tests/support/stop_process.h"

namespace millrace::test {
namespace {

class Watched : public NrtModelTest {
 protected:
  explicit Watched(const char* watchdog = "400ms", const char* timeout = "600")
      : NrtModelTest("faulty-cpu",
                     {{"MILLRACE_WATCHDOG", watchdog}, {"NEURON_RT_EXEC_TIMEOUT", timeout}}) {}
};

TEST_F(Watched, GivesUpAnExecutionThatHangs) {
  executions().hang_nth(2);
  EXPECT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(execute(), NRT_TIMEOUT);
  EXPECT_EQ(execute(), NRT_EXEC_UNIT_UNRECOVERABLE);
}

TEST_F(Watched, GivesUpATransferThatHangs) {
  transfers().hang_nth(1);
  NRT_STATUS ret = kUntouched;
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule_write(&ret, &sequence), NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(ret, NRT_TIMEOUT);
}

TEST_F(Watched, IsNotWaitedForByCloseForLonger) {
  // A request that hung in an earlier test may have kept the device, with its counts of jobs.
  const uint64_t hangs_before = executions().counts().hangs;
  executions().hang_nth(1);
  NRT_STATUS ret = kUntouched;
  ASSERT_EQ(schedule(&ret, nullptr), NRT_SUCCESS);
  executions().await_hangs(hangs_before + 1);
  nrt_close();
  EXPECT_EQ(ret, NRT_TIMEOUT);
}

class StoppedProcess : public NrtModelTest {
 protected:
  StoppedProcess() : NrtModelTest("faulty-cpu", {{"NEURON_RT_EXEC_TIMEOUT", "2"}}) {}
};

TEST_F(StoppedProcess, IsNoTimeOfAnExecution) {
  // Another test may have used the device.
  const uint64_t holds_before = executions().counts().holds;
  executions().hold();
  NRT_STATUS ret = kUntouched;
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule(&ret, &sequence), NRT_SUCCESS);
  executions().await_holds(holds_before + 1);
  stop_this_process_for(std::chrono::milliseconds(2500));
  executions().release();
  await(sequence);
  EXPECT_EQ(ret, NRT_SUCCESS);
}

class WatchedForLonger : public Watched {
 protected:
  WatchedForLonger() : Watched("600s", "1") {}
};

TEST_F(WatchedForLonger, ThanTheExecutionTimeoutIsNoLonger) {
  executions().hang_nth(1);
  EXPECT_EQ(execute(), NRT_TIMEOUT);
}

// The values of NEURON_RT_EXEC_TIMEOUT that are no limit: 0, and the largest, which is 68 years.
class WithoutALimit : public NrtModelTest, public testing::WithParamInterface<const char*> {
 protected:
  WithoutALimit() : NrtModelTest("faulty-cpu", {{"NEURON_RT_EXEC_TIMEOUT", GetParam()}}) {}
};

TEST_P(WithoutALimit, AnExecutionIsNotGivenUp) {
  // Another test may have used the device.
  const uint64_t slows_before = executions().counts().slows;
  executions().slow(std::chrono::milliseconds(100));
  EXPECT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(executions().counts().slows, slows_before + 2);
}

INSTANTIATE_TEST_SUITE_P(Timeouts, WithoutALimit, testing::Values("0", "2147483647"));

// Whether every number in base 16 of the lines is that of the request.
void expect_one_id(const LogCapture& log, nrta_seq_t sequence) {
  const std::string id = fmt::format("{:#x}", sequence);
  for (std::string line : log.lines()) {
    for (size_t at = 0; (at = line.find(id)) != std::string::npos;) line.erase(at, id.size());
    EXPECT_EQ(line.find("0x"), std::string::npos) << line;
  }
  EXPECT_GE(log.count(id), 1u);
}

TEST_F(Watched, HasOneIdInTheLogAndTheNameOfItsUnit) {
  const LogCapture log(LogLevel::kWarning);
  executions().hang_nth(1);
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule(nullptr, &sequence), NRT_SUCCESS);
  await(sequence);
  expect_one_id(log, sequence);
  EXPECT_EQ(log.count(":1 of COMPUTE of core 0 (request "), 1u);
  EXPECT_EQ(log.count(") failed with NRT_TIMEOUT"), 1u);
}

TEST_F(Watched, HasTheNameOfItsQueueInTheLogWhereThereAreSeveral) {
  const LogCapture log(LogLevel::kWarning);
  transfers().fail_nth(1);
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule_write(nullptr, &sequence, 1), NRT_SUCCESS);
  await(sequence);
  expect_one_id(log, sequence);
  EXPECT_EQ(log.count(":1 of TENSOR_OP queue 1 of core 0 (request "), 1u);
  EXPECT_EQ(log.count(") failed with NRT_HW_ERROR"), 1u);
}

}  // namespace
}  // namespace millrace::test
