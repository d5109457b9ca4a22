// Order: one at a time within a unit, none between units.
#include <array>

#include "tests/nrt/nrt_fixture.h"
#include "tests/support/library_threads.h"

namespace millrace::test {
namespace {

class Order : public NrtModelTest {};

TEST_F(Order, WithinAUnitIsThatOfSubmission) {
  // Each one reads what the one before wrote.
  std::array<std::vector<float>, 20> sources, results;
  nrta_seq_t last = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    sources[i] = some_input(static_cast<int>(i));
    results[i].resize(sources[i].size());
    ASSERT_EQ(nrta_tensor_write(input_.get(), sources[i].data(), 0, kTinyInputBytes, 0, 0,
                                static_cast<NRT_STATUS*>(nullptr), nullptr),
              NRT_SUCCESS);
    ASSERT_EQ(nrta_tensor_read(results[i].data(), input_.get(), 0, kTinyInputBytes, 0, 0,
                               static_cast<NRT_STATUS*>(nullptr), &last),
              NRT_SUCCESS);
  }
  await(last);
  EXPECT_EQ(results, sources);
  EXPECT_EQ(transfers().most_at_once(), 1u);
}

TEST_F(Order, IsOneAtATimeWithinAUnit) {
  executions().hold();
  nrta_seq_t last = 0;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(schedule(nullptr, &last), NRT_SUCCESS);
  executions().await_holds(1);
  executions().let_through(1);
  await(last - 2);
  EXPECT_FALSE(is_completed(last - 1));
  EXPECT_EQ(last_completed(NRTA_XU_COMPUTE), last - 2);
  executions().release();
  await(last);
  EXPECT_EQ(executions().most_at_once(), 1u);
}

TEST_F(Order, DoesNotHoldBackOtherQueuesNorCores) {
  transfers().hold();
  nrta_seq_t held = 0, other_queue = 0, other_core = 0;
  ASSERT_EQ(schedule_write(nullptr, &held), NRT_SUCCESS);
  transfers().await_holds(1);
  ASSERT_EQ(schedule_write(nullptr, &other_queue, 1), NRT_SUCCESS);
  const ScopedTensor elsewhere(kTinyInputBytes, 1);
  ASSERT_EQ(nrta_tensor_write(elsewhere.get(), host_.data(), 0, kTinyInputBytes, 1, 0,
                              static_cast<NRT_STATUS*>(nullptr), &other_core),
            NRT_SUCCESS);
  // All three are under way at the same time.
  transfers().await_holds(3);
  EXPECT_FALSE(is_completed(held));
  transfers().release();
  for (const nrta_seq_t sequence : {held, other_queue, other_core}) await(sequence);
}

TEST_F(Order, OfTransfersIsKeptByAThreadOfTheUnitsOwn) {
  nrta_seq_t first = 0, second = 0;
  ASSERT_EQ(schedule_write(nullptr, &first), NRT_SUCCESS);
  ASSERT_EQ(schedule_write(nullptr, &second, 1), NRT_SUCCESS);
  await(first);
  await(second);
  EXPECT_EQ(library_threads("millrace-mover"), 2u);
}

TEST_F(Order, OfTransfersIsNotThatOfExecutions) {
  executions().hold();
  nrta_seq_t execution = 0, transfer = 0;
  ASSERT_EQ(schedule(nullptr, &execution), NRT_SUCCESS);
  executions().await_holds(1);
  ASSERT_EQ(schedule_write(nullptr, &transfer), NRT_SUCCESS);
  await(transfer);
  EXPECT_FALSE(is_completed(execution));
  executions().release();
  await(execution);
}

TEST_F(Order, OfOneCoreDoesNotHoldBackTheOther) {
  const ScopedTensor input(kTinyInputBytes, 1), output(kTinyOutputBytes, 1);
  const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
  nrt_model_t* const model = load(1);
  executions().hold();
  nrta_seq_t first = 0, second = 0;
  ASSERT_EQ(schedule(nullptr, &first), NRT_SUCCESS);
  ASSERT_EQ(nrta_execute_schedule(model, inputs.get(), outputs.get(), 0,
                                  static_cast<NRT_STATUS*>(nullptr), &second),
            NRT_SUCCESS);
  executions().await_holds(2);
  executions().release();
  await(first);
  await(second);
}

TEST_F(Order, IsKeptByARequestThatFails) {
  executions().hold();
  executions().fail_nth(2, internal_error("no result"));
  std::array<NRT_STATUS, 4> rets{};
  nrta_seq_t last = 0;
  for (NRT_STATUS& ret : rets) ASSERT_EQ(schedule(&ret, &last), NRT_SUCCESS);
  executions().release();
  await(last);
  EXPECT_EQ(rets, (std::array{NRT_SUCCESS, NRT_EXEC_COMPLETED_WITH_ERR, NRT_SUCCESS, NRT_SUCCESS}));
  EXPECT_EQ(execute(), NRT_SUCCESS);
}

TEST_F(Order, IncludesSynchronousCalls) {
  executions().hold();
  nrta_seq_t before = 0;
  ASSERT_EQ(schedule(nullptr, &before), NRT_SUCCESS);
  executions().await_holds(1);
  std::thread thread([&] {
    EXPECT_EQ(execute(), NRT_SUCCESS);
    EXPECT_TRUE(is_completed(before));
  });
  executions().release();
  thread.join();
  EXPECT_EQ(last_completed(NRTA_XU_COMPUTE), before + 1);
}

}  // namespace
}  // namespace millrace::test
