// The order of completion, and what a request holds until then.
#include <algorithm>
#include <array>

#include "tests/nrt/event_fd.h"
#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {
namespace {

class Completion : public NrtModelTest {
 protected:
  std::vector<float> content_of(const nrt_tensor_t* tensor) {
    std::vector<float> numbers(host_.size());
    EXPECT_EQ(nrt_tensor_read(tensor, numbers.data(), 0, kTinyInputBytes), NRT_SUCCESS);
    return numbers;
  }
};

TEST_F(Completion, IsSeenByPollingAfterStatusAndBytes) {
  for (int round = 0; round < 300; ++round) {
    auto ret = std::make_unique<NRT_STATUS>(kUntouched);
    std::vector<float> back(host_.size());
    nrta_seq_t sequence = 0;
    ASSERT_EQ(schedule_write(nullptr, nullptr), NRT_SUCCESS);
    ASSERT_EQ(
        nrta_tensor_read(back.data(), input_.get(), 0, kTinyInputBytes, 0, 0, ret.get(), &sequence),
        NRT_SUCCESS);
    while (last_completed(NRTA_XU_TENSOR_OP) < sequence) std::this_thread::yield();
    ASSERT_EQ(*ret, NRT_SUCCESS);
    ASSERT_EQ(back, host_);
  }
}

TEST_F(Completion, IsSeenThroughAnEventFdAfterStatusAndSequence) {
  for (int round = 0; round < 300; ++round) {
    EventFd event;
    NRT_STATUS ret = kUntouched;
    nrta_seq_t sequence = 0;
    ASSERT_EQ(schedule_write(&ret, &sequence), NRT_SUCCESS);
    ASSERT_EQ(nrta_event_register_seq_id_completion(sequence, event.get()), NRT_SUCCESS);
    ASSERT_EQ(event.await(), 1u);
    ASSERT_TRUE(is_completed(sequence));
    ASSERT_EQ(last_completed(NRTA_XU_TENSOR_OP), sequence);
    ASSERT_EQ(ret, NRT_SUCCESS);
  }
}

TEST_F(Completion, WritesTheStatusOnceAndNotAtSubmit) {
  NRT_STATUS ret = kUntouched;
  nrta_seq_t first = 0, second = 0;
  transfers().hold();
  ASSERT_EQ(schedule_write(&ret, &first), NRT_SUCCESS);
  transfers().await_holds(1);
  EXPECT_EQ(ret, kUntouched);
  transfers().release();
  await(first);
  EXPECT_EQ(ret, NRT_SUCCESS);
  ret = kUntouched;
  ASSERT_EQ(schedule_write(nullptr, &second), NRT_SUCCESS);
  await(second);
  EXPECT_EQ(ret, kUntouched);
}

TEST_F(Completion, WritesTheStatusOfAFailure) {
  executions().fail_nth(1, internal_error("no result"));
  NRT_STATUS ret = kUntouched;
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule(&ret, &sequence), NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(ret, NRT_EXEC_COMPLETED_WITH_ERR);
}

TEST_F(Completion, CountsOnTheOutputsThatWereWritten) {
  nrta_seq_t sequence = 0;
  for (uint64_t count = 1; count <= 3; ++count) {
    ASSERT_EQ(schedule(nullptr, &sequence), NRT_SUCCESS);
    await(sequence);
    EXPECT_EQ(nrt_tensor_check_output_completion(output_.get(), 0, count), NRT_SUCCESS);
    EXPECT_EQ(nrt_tensor_check_output_completion(output_.get(), 0, count + 1), NRT_TIMEOUT);
  }
  executions().fail_nth(1, internal_error("no result"));
  ASSERT_EQ(schedule(nullptr, &sequence), NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(nrt_tensor_check_output_completion(output_.get(), 0, 4), NRT_TIMEOUT);
  EXPECT_EQ(nrt_tensor_check_output_completion(input_.get(), 0, 1), NRT_TIMEOUT);
}

TEST_F(Completion, NeedsNoSetsOnceScheduled) {
  executions().hold();
  write_input(some_input(4));
  nrta_seq_t sequence = 0;
  NRT_STATUS ret = kUntouched;
  {
    const ScopedSet inputs(kTinyInput, input_.get()), outputs(kTinyOutput, output_.get());
    ASSERT_EQ(nrta_execute_schedule(model_, inputs.get(), outputs.get(), 0, &ret, &sequence),
              NRT_SUCCESS);
  }
  // Instead of the destroyed ones.
  const ScopedSet others(kTinyInput, output_.get()), more(kTinyOutput, input_.get());
  executions().release();
  await(sequence);
  EXPECT_EQ(ret, NRT_SUCCESS);
  EXPECT_EQ(read_output(), tiny_reference(some_input(4)));
}

TEST_F(Completion, NeedsNoTensorsOnceScheduled) {
  executions().hold();
  transfers().hold();
  std::array<NRT_STATUS, 2> rets{kUntouched, kUntouched};
  nrta_seq_t execution = 0, transfer = 0;
  ASSERT_EQ(schedule(rets.data(), &execution), NRT_SUCCESS);
  ASSERT_EQ(schedule_write(&rets[1], &transfer), NRT_SUCCESS);
  nrt_tensor_free(input_.address());
  nrt_tensor_free(output_.address());
  executions().release();
  transfers().release();
  await(execution);
  await(transfer);
  EXPECT_EQ(rets, (std::array{NRT_SUCCESS, NRT_SUCCESS}));
}

TEST_F(Completion, NeedsNoModelHandleOnceScheduled) {
  executions().hold();
  write_input(some_input(2));
  std::array<NRT_STATUS, 3> rets{kUntouched, kUntouched, kUntouched};
  nrta_seq_t last = 0;
  for (NRT_STATUS& ret : rets) ASSERT_EQ(schedule(&ret, &last), NRT_SUCCESS);
  ASSERT_EQ(nrt_unload(model_), NRT_SUCCESS);
  EXPECT_EQ(schedule(nullptr, nullptr), NRT_INVALID_HANDLE);
  executions().release();
  await(last);
  EXPECT_EQ(rets, (std::array{NRT_SUCCESS, NRT_SUCCESS, NRT_SUCCESS}));
  EXPECT_EQ(read_output(), tiny_reference(some_input(2)));
}

TEST_F(Completion, BorrowsTheBufferOfAWriteUntilThen) {
  transfers().hold();
  nrta_seq_t first = 0, second = 0;
  ASSERT_EQ(schedule_write(nullptr, &first), NRT_SUCCESS);
  ASSERT_EQ(schedule_write(nullptr, &second), NRT_SUCCESS);
  transfers().await_holds(1);
  std::ranges::copy(some_input(9), host_.begin());
  transfers().release();
  await(second);
  EXPECT_EQ(content_of(input_.get()), some_input(9));
}

TEST_F(Completion, OfAttachedMemoryWritesToIt) {
  std::vector<float> result(kTinyOutputBytes / sizeof(float));
  ASSERT_EQ(nrt_tensor_attach_buffer(output_.get(), result.data(), kTinyOutputBytes), NRT_SUCCESS);
  write_input(some_input(6));
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule(nullptr, &sequence), NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(result, tiny_reference(some_input(6)));
}

TEST_F(Completion, OfACopyWithinOneTensorIsThatOfMemmove) {
  nrta_seq_t sequence = 0;
  write_input(host_);
  ASSERT_EQ(nrta_tensor_copy(input_.get(), 0, input_.get(), sizeof(float),
                             kTinyInputBytes - sizeof(float), 0, 0, nullptr, &sequence),
            NRT_SUCCESS);
  await(sequence);
  std::vector<float> expected = host_;
  std::copy_backward(host_.begin(), host_.end() - 1, expected.end());
  EXPECT_EQ(content_of(input_.get()), expected);
}

}  // namespace
}  // namespace millrace::test
