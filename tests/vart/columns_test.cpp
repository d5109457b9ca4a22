// start_column, aie_columns_sharing, async_threadpool_depth and max_concurrent_runs as a runner's
// user sees them.
#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "base/process/topology.h"
#include "device/registry.h"
#include "graph/archive/codec.h"
#include "tests/support/run_log.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ColumnsTest : public RunnerTest {
 protected:
  ~ColumnsTest() override { unsetenv("MILLRACE_COLUMNS"); }

  template <class Error = std::runtime_error>
  std::string refusal(const Options& options) {
    try {
      make_runner(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  static int core_of_group(size_t group) {
    return topology().cores[group % static_cast<size_t>(topology().core_budget)];
  }
};

TEST_F(ColumnsTest, AStartColumnBindsJobsToTheCoreOfItsGroup) {
  for (const uint32_t column : {0u, 3u, 4u, 30u, 32u}) {
    const std::shared_ptr<Runner> runner = make_runner({{"start_column", column}});
    const Tensors in = inputs(*runner);
    Tensors out = outputs(*runner);
    const test::RunLog log;
    EXPECT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
    EXPECT_EQ(runner->wait(runner->execute_async(in, out), kForever), StatusCode::SUCCESS);
    EXPECT_THAT(log.cores(), AllOf(SizeIs(2), Each(ElementsAre(core_of_group(column / 4)))));
  }
}

TEST_F(ColumnsTest, AModelOccupiesTheColumnsThatItWasCompiledFor) {
  setenv("MILLRACE_COLUMNS", "24", 1);
  const std::string wide = directory_.file("wide.rai");
  const graph::CompiledModel model = test::tiny_model();
  ASSERT_TRUE(model::write_archive(graph::encode(model, 16), wide, model::ArchiveForm::kFile).ok());
  const auto make_wide = [&](const Options& options) {
    return RunnerFactory::create_runner(RunnerType::VAIML, wide, options);
  };
  const std::shared_ptr<Runner> first = make_wide({});
  EXPECT_EQ(std::any_cast<size_t>(first->get_property("columns")), 16u);
  EXPECT_THAT(refusal({{"start_column", 12}}), HasSubstr("columns 0 to 15, shared"));
  EXPECT_EQ(refusal({{"start_column", 16}, {"aie_columns_sharing", false}}), "accepted");
  EXPECT_NO_THROW(make_wide({{"start_column", 0}})) << "they take turns";
  EXPECT_THROW(make_wide({{"start_column", 4}}), std::runtime_error);
  EXPECT_THROW(make_wide({{"start_column", 12}}), std::runtime_error) << "there are not enough";
}

TEST_F(ColumnsTest, PropertiesGiveTheNumberOfCoresOfARunner) {
  const auto cores = [](const Runner& runner) {
    return std::any_cast<size_t>(runner.get_property("nb_cores_per_system"));
  };
  const uint32_t lanes = device::open_device_of_program().value()->lanes().count();
  EXPECT_EQ(cores(*make_runner()), lanes);
  EXPECT_EQ(cores(*make_runner({{"start_column", 8}})), 1u);
}

TEST_F(ColumnsTest, ExclusiveColumnsAreRefusedToOthers) {
  std::shared_ptr<Runner> holder = make_runner(
      {{"start_column", 4u}, {"aie_columns_sharing", false}, {"name", std::string("mill")}});
  EXPECT_THAT(refusal({{"start_column", 4u}}),
              AllOf(HasSubstr("\"mill\" (model \"tiny\")"), HasSubstr("columns 4 to 7")));
  EXPECT_THAT(refusal({{"start_column", 6u}, {"aie_columns_sharing", false}}),
              HasSubstr("columns 6 to 9 cannot be exclusive"));
  EXPECT_EQ(refusal({{"start_column", 8u}, {"aie_columns_sharing", false}}), "accepted");
  EXPECT_EQ(refusal({}), "accepted") << "placed freely, it is on other columns";
  holder.reset();
  EXPECT_EQ(refusal({{"start_column", 4u}}), "accepted");
}

TEST_F(ColumnsTest, AnExclusiveRunnerIsRefusedWhereOthersAre) {
  const std::shared_ptr<Runner> holder = make_runner({{"start_column", 0u}});
  EXPECT_EQ(refusal({{"start_column", 0u}}), "accepted");
  EXPECT_THAT(refusal({{"start_column", 0u}, {"aie_columns_sharing", false}}),
              AllOf(HasSubstr("VAIML-Runner"), HasSubstr("columns 0 to 3, shared")));
}

TEST_F(ColumnsTest, ExclusiveRunnersPlacedFreelyTakeTheGroupsThatAreLeft) {
  setenv("MILLRACE_COLUMNS", "12", 1);
  const std::shared_ptr<Runner> shared = make_runner({{"start_column", 4}});
  const std::shared_ptr<Runner> first = make_runner({{"aie_columns_sharing", false}});
  const std::shared_ptr<Runner> second = make_runner({{"aie_columns_sharing", false}});
  EXPECT_THAT(refusal({{"aie_columns_sharing", false}}),
              HasSubstr("no 4 adjacent columns of the 12"));
  EXPECT_THAT(refusal({{"start_column", 8}}), HasSubstr("columns 8 to 11, exclusive"));
}

TEST_F(ColumnsTest, ARunnerPlacedFreelyFindsNoColumnsWhereAllAreExclusive) {
  setenv("MILLRACE_COLUMNS", "4", 1);
  const std::shared_ptr<Runner> alone = make_runner({{"aie_columns_sharing", false}});
  EXPECT_THAT(refusal({}),
              AllOf(HasSubstr("no 4 adjacent columns of the 4"), HasSubstr("VAIML-Runner")));
}

TEST_F(ColumnsTest, TheNumberOfColumnsSetsTheLastStartColumn) {
  setenv("MILLRACE_COLUMNS", "8", 1);
  EXPECT_EQ(refusal({{"start_column", 4}}), "accepted");
  EXPECT_THAT(refusal<std::runtime_error>({{"start_column", 5}}),
              AllOf(HasSubstr("start_column"), HasSubstr("from 0 to 4, not 5")));
}

TEST_F(ColumnsTest, ANumberOfColumnsThatMakesNoSenseIsRefused) {
  setenv("MILLRACE_COLUMNS", "six", 1);
  for (const Options& options : {Options{}, Options{{"start_column", 0}}})
    EXPECT_THAT(refusal(options), AllOf(HasSubstr("MILLRACE_COLUMNS"), HasSubstr("\"six\"")));
}

class LanesOfARunner : public GatedRunnerTest {
 protected:
  // Four jobs in flight; how many of them ran at the same time.
  uint32_t most_at_once(uint32_t async_threadpool_depth) {
    const std::shared_ptr<Runner> runner = make_runner(
        {{"max_concurrent_runs", 4}, {"async_threadpool_depth", async_threadpool_depth}});
    const Tensors in = inputs(*runner);
    Tensors out = outputs(*runner);
    std::vector<JobHandle> jobs;
    for (int i = 0; i < 4; ++i) jobs.push_back(runner->execute_async(in, out));
    gate_->await_arrivals(async_threadpool_depth);
    gate_->release();
    for (const JobHandle& job : jobs) EXPECT_EQ(runner->wait(job, kForever), StatusCode::SUCCESS);
    return gate_->most_at_once();
  }
};

TEST_F(LanesOfARunner, WithADepthOfOneNeverTwoJobsRunAtOnce) {
  EXPECT_EQ(most_at_once(1), 1u);
}

TEST_F(LanesOfARunner, WithADepthOfTwoTwoJobsRunAtOnce) {
  EXPECT_EQ(most_at_once(2), 2u);
}

TEST_F(LanesOfARunner, BeyondTheLimitAsynchronousCallsAreRefusedAndSynchronousOnesWait) {
  const std::shared_ptr<Runner> runner = make_runner({{"max_concurrent_runs", 1}});
  const Tensors in = inputs(*runner);
  Tensors held_out = outputs(*runner), waiting_out = outputs(*runner);
  const JobHandle held = runner->execute_async(in, held_out);
  gate_->await_arrivals(1);
  EXPECT_EQ(runner->execute_async(in, held_out).status, StatusCode::RESOURCE_UNAVAILABLE);
  std::future<StatusCode> waiting =
      std::async(std::launch::async, [&] { return runner->execute(in, waiting_out); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(1)), std::future_status::timeout);
  gate_->release();
  EXPECT_EQ(waiting.get(), StatusCode::SUCCESS);
  EXPECT_EQ(runner->wait(held, kForever), StatusCode::SUCCESS);
}

}  // namespace
}  // namespace millrace::vartml
