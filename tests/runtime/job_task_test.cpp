// Tests what a job reports of its progress, where it stops, and how a report names what it did.
#include "runtime/jobs/job_task.h"

#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "queue/lanes/sleepers.h"
#include "queue/lanes/team.h"
#include "tests/runtime/session_fixture.h"
#include "tests/support/test_run.h"

namespace millrace::runtime {
namespace {

using ::testing::HasSubstr;

class JobTaskTest : public ::testing::Test {
 protected:
  JobTaskTest() { gated_.faults->release(); }
  ~JobTaskTest() override { test::let_everything_go(*gated_.faults); }

  test::GatedDevice gated_ = test::make_gated_device(1);
  std::shared_ptr<Executor> executor_ =
      Executor::of(
          gated_.device,
          gated_.device
              ->load(std::make_shared<graph::CompiledModel>(test::tiny_model({.batch_size = 3})))
              .value())
          .value();
  JobTask task_{0};
};

TEST_F(JobTaskTest, RunsEveryFrameAndSaysHowFarItIs) {
  JobMemory memory(executor_->model(), 3);
  task_.fill(executor_, memory.bindings());
  test::TestRun control;
  ASSERT_TRUE(task_.run(control).ok());
  EXPECT_EQ(gated_.faults->arrivals(), 3u);
  EXPECT_EQ(control.position().frame, 2u);
  EXPECT_GE(control.marks(), 3u);
  task_.release();
}

TEST_F(JobTaskTest, StopsBeforeTheNextFrame) {
  JobMemory memory(executor_->model(), 3);
  task_.fill(executor_, memory.bindings());
  test::TestRun control;
  control.stop();
  EXPECT_EQ(task_.run(control).code(), StatusCode::kCancelled);
  EXPECT_EQ(gated_.faults->arrivals(), 0u);
  task_.release();
}

TEST_F(JobTaskTest, HasNoHelpersForThroughput) {
  JobMemory memory(executor_->model(), 1);
  queue::Sleepers sleepers(1);
  queue::Team team(sleepers, 1, 0);
  for (const JobMode mode : {JobMode::kAdaptive, JobMode::kLatency, JobMode::kThroughput}) {
    JobTask task(0, nullptr, {}, nullptr, mode);
    task.fill(executor_, memory.bindings());
    test::TestRun control;
    control.set_team(&team);
    ASSERT_TRUE(task.run(control).ok());
    EXPECT_EQ(control.team(), mode == JobMode::kThroughput ? nullptr : &team);
    task.release();
  }
}

TEST_F(JobTaskTest, KeepsTheExecutorOnlyWhileItIsFilled) {
  JobMemory memory(executor_->model(), 1);
  const long before = executor_.use_count();
  task_.fill(executor_, memory.bindings());
  EXPECT_EQ(executor_.use_count(), before + 1);
  task_.release();
  EXPECT_EQ(executor_.use_count(), before);
}

TEST_F(JobTaskTest, AReportNamesFramePartitionOperatorAndTensor) {
  JobMemory memory(executor_->model(), 3);
  task_.fill(executor_, memory.bindings());
  const std::string report = task_.describe({.frame = 2, .partition = 0, .step = 0});
  EXPECT_THAT(report, HasSubstr("frame 2"));
  EXPECT_THAT(report, HasSubstr("partition 0"));
  EXPECT_THAT(report, HasSubstr("model \"tiny\""));
  EXPECT_THAT(report, HasSubstr("Pattern \"fill\""));
  EXPECT_THAT(report, HasSubstr("writing \"probs\""));
  EXPECT_THAT(task_.describe({.frame = 0, .partition = 0, .step = 9}), HasSubstr("frame 0"))
      << "a step the device does not name";
  task_.release();
}

}  // namespace
}  // namespace millrace::runtime
