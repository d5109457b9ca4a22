// The counters of output tensors, repeated executions, and waiting for a core to have nothing to
// do.
#include "nrt/nrt_experimental.h"
#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {
namespace {

class CompletionCounters : public NrtModelTest {
 protected:
  NRT_STATUS check(uint64_t expected, int64_t timeout_us = 0) {
    return nrt_tensor_check_output_completion(output_.get(), timeout_us, expected);
  }
};

TEST_F(CompletionCounters, CountExecutionsThatWroteTheTensor) {
  EXPECT_EQ(check(0), NRT_SUCCESS);
  EXPECT_EQ(check(1), NRT_TIMEOUT);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(check(2), NRT_SUCCESS);
  EXPECT_EQ(check(3, 1), NRT_TIMEOUT);
  EXPECT_EQ(nrt_tensor_check_output_completion(input_.get(), 0, 1), NRT_TIMEOUT);
  ASSERT_EQ(nrt_tensor_reset_output_completion(output_.get()), NRT_SUCCESS);
  EXPECT_EQ(check(1), NRT_TIMEOUT);
}

TEST_F(CompletionCounters, AreWaitedForByManyThreads) {
  executions().hold();
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule(nullptr, &sequence), NRT_SUCCESS);
  executions().await_holds(1);
  std::vector<std::thread> threads;
  for (const int64_t timeout_us : {int64_t{-1}, int64_t{3'600'000'000}, INT64_MAX})
    threads.emplace_back([this, timeout_us] { EXPECT_EQ(check(1, timeout_us), NRT_SUCCESS); });
  executions().release();
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CompletionCounters, WakeWhenTheRuntimeCloses) {
  std::thread waiting([this] { EXPECT_EQ(check(1, -1), NRT_CLOSED); });
  nrt_close();
  waiting.join();
}

TEST_F(CompletionCounters, NullIsInvalidWhileTheRuntimeRuns) {
  EXPECT_EQ(nrt_tensor_check_output_completion(nullptr, 0, 0), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_reset_output_completion(nullptr), NRT_INVALID);
  nrt_close();
  EXPECT_EQ(nrt_tensor_check_output_completion(nullptr, 0, 0), NRT_CLOSED);
  EXPECT_EQ(nrt_tensor_reset_output_completion(nullptr), NRT_CLOSED);
}

TEST_F(CompletionCounters, RepeatedExecutionsCountEach) {
  write_input(some_input(4));
  ASSERT_EQ(nrt_execute_repeat(model_, inputs_.get(), outputs_.get(), 3), NRT_SUCCESS);
  EXPECT_EQ(check(3), NRT_SUCCESS);
  EXPECT_EQ(check(4), NRT_TIMEOUT);
  EXPECT_EQ(read_output(), tiny_reference(some_input(4)));
  EXPECT_EQ(nrt_execute_repeat(model_, inputs_.get(), outputs_.get(), 0), NRT_INVALID);
}

TEST_F(CompletionCounters, OutputsFeedInputsOfTheSameName) {
  // The output set has a tensor for the input, too: the second round reads that one.
  const ScopedTensor next(kTinyInputBytes);
  ASSERT_EQ(nrt_tensor_write(next.get(), some_input(9).data(), 0, kTinyInputBytes), NRT_SUCCESS);
  ASSERT_EQ(nrt_add_tensor_to_tensor_set(outputs_.get(), kTinyInput, next.get()), NRT_SUCCESS);
  write_input(some_input(4));
  ASSERT_EQ(nrt_execute_repeat(model_, inputs_.get(), outputs_.get(), 2), NRT_SUCCESS);
  EXPECT_EQ(read_output(), tiny_reference(some_input(9)));
  ASSERT_EQ(execute(), NRT_SUCCESS);  // the sets are as they were
  EXPECT_EQ(read_output(), tiny_reference(some_input(4)));
}

TEST_F(CompletionCounters, ACoreIsDrained) {
  EXPECT_EQ(nrt_async_drain_queued_execs(1), NRT_SUCCESS);  // never used
  executions().hold();
  nrta_seq_t last = 0;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(schedule(nullptr, &last), NRT_SUCCESS);
  executions().await_holds(1);
  std::thread release([this] { executions().release(); });
  EXPECT_EQ(nrt_async_drain_queued_execs(0), NRT_SUCCESS);
  bool completed = false;
  EXPECT_EQ(nrta_is_completed(last, &completed), NRT_SUCCESS);
  EXPECT_TRUE(completed);
  release.join();
  EXPECT_EQ(nrt_async_drain_queued_execs(2), NRT_INVALID);
}

}  // namespace
}  // namespace millrace::test
