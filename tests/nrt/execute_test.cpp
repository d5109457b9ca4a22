// Executions, synchronous and scheduled.
#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {
namespace {

class Execute : public NrtModelTest {};

TEST_F(Execute, ComputesTheModel) {
  write_input(some_input(3));
  ASSERT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(read_output(), tiny_reference(some_input(3)));
}

TEST_F(Execute, ScheduledComputesTheSame) {
  write_input(some_input(5));
  NRT_STATUS ret = NRT_FAILURE;
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule(&ret, &sequence), NRT_SUCCESS);
  EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(sequence), 1u);
  await(sequence);
  EXPECT_EQ(ret, NRT_SUCCESS);
  EXPECT_EQ(read_output(), tiny_reference(some_input(5)));
}

TEST_F(Execute, MayReadWhatItWrites) {
  // The input is the first part of the output's memory.
  nrt_tensor_t* input = nullptr;
  ASSERT_EQ(nrt_tensor_allocate_slice(output_.get(), 0, kTinyInputBytes, "in place", &input),
            NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_write(input, some_input(7).data(), 0, kTinyInputBytes), NRT_SUCCESS);
  const ScopedSet inputs(kTinyInput, input);
  ASSERT_EQ(nrt_execute(model_, inputs.get(), outputs_.get()), NRT_SUCCESS);
  EXPECT_EQ(read_output(), tiny_reference(some_input(7)));
  nrt_tensor_free(&input);
}

TEST_F(Execute, CompletesWhileATransferIsHeld) {
  transfers().hold();
  std::vector<float> buffer = some_input(1);
  nrta_seq_t transfer = 0, execution = 0;
  NRT_STATUS transfer_ret = NRT_FAILURE, ret = NRT_FAILURE;
  ScopedTensor elsewhere(kTinyInputBytes);
  ASSERT_EQ(nrta_tensor_write(elsewhere.get(), buffer.data(), 0, kTinyInputBytes, 0, 0,
                              &transfer_ret, &transfer),
            NRT_SUCCESS);
  transfers().await_holds(1);
  ASSERT_EQ(schedule(&ret, &execution), NRT_SUCCESS);
  await(execution);
  EXPECT_EQ(ret, NRT_SUCCESS);
  bool completed = true;
  ASSERT_EQ(nrta_is_completed(transfer, &completed), NRT_SUCCESS);
  EXPECT_FALSE(completed);
  transfers().release();
  await(transfer);
  EXPECT_EQ(transfer_ret, NRT_SUCCESS);
}

}  // namespace
}  // namespace millrace::test
