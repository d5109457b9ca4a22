// Sequence ids: what is accepted is counted without gaps, in both numberings of the units.
#include <climits>

#include "tests/nrt/calls_v2.h"
#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {
namespace {

class Sequence : public NrtModelTest {
 protected:
  static nrta_seq_t last_of_v2(v2_unit unit, int queue = 0) {
    nrta_seq_t sequence = 0;
    EXPECT_EQ(v2_last_completed(0, unit, queue, &sequence), NRT_SUCCESS);
    return sequence;
  }
};

TEST_F(Sequence, IsConsecutiveAndStartsAtOne) {
  for (uint64_t counter = 1; counter <= 5; ++counter) {
    nrta_seq_t execution = 0, transfer = 0;
    ASSERT_EQ(schedule(nullptr, &execution), NRT_SUCCESS);
    ASSERT_EQ(schedule_write(nullptr, &transfer, 1), NRT_SUCCESS);
    EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(execution), counter);
    EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(transfer), counter);
    EXPECT_NE(NRTA_SEQ_GET_XU_ID(execution), NRTA_SEQ_GET_XU_ID(transfer));
  }
}

TEST_F(Sequence, HasTheUnitInItsHighBits) {
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule_write(nullptr, &sequence, 1), NRT_SUCCESS);
  EXPECT_EQ(NRTA_SEQ_GET_XU_ID(sequence), NRTA_SEQ_GET_XU_ID(last_completed(NRTA_XU_TENSOR_OP, 1)));
  EXPECT_NE(NRTA_SEQ_GET_XU_ID(sequence), NRTA_SEQ_GET_XU_ID(last_completed(NRTA_XU_TENSOR_OP, 0)));
}

TEST_F(Sequence, OfAnUnusedUnitIsZero) {
  for (const nrta_xu_t unit : {NRTA_XU_TENSOR_OP, NRTA_XU_COMPUTE, NRTA_XU_COLLECTIVES})
    EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(last_completed(unit)), 0u);
}

TEST_F(Sequence, RejectedCallsConsumeNone) {
  nrta_seq_t sequence = 77;
  NRT_STATUS ret = NRT_CLOSED;
  EXPECT_EQ(
      nrta_tensor_write(input_.get(), host_.data(), 1, kTinyInputBytes, 0, 0, &ret, &sequence),
      NRT_INVALID);
  EXPECT_EQ(nrta_tensor_write(input_.get(), nullptr, 0, 8, 0, 0, &ret, &sequence), NRT_INVALID);
  EXPECT_EQ(schedule_write(&ret, &sequence, 2), NRT_INVALID);
  EXPECT_EQ(schedule_write(&ret, &sequence, -1), NRT_INVALID);
  for (const int no_core : {2, -1, INT_MIN})
    EXPECT_EQ(nrta_tensor_write(input_.get(), host_.data(), 0, 8, no_core, 0, &ret, &sequence),
              NRT_INVALID)
        << no_core;
  EXPECT_EQ(nrta_execute_schedule(model_, inputs_.get(), outputs_.get(), 1, &ret, &sequence),
            NRT_INVALID);
  EXPECT_EQ(nrta_execute_schedule(model_, outputs_.get(), outputs_.get(), 0, &ret, &sequence),
            NRT_INVALID);
  EXPECT_EQ(nrta_execute_schedule(nullptr, inputs_.get(), outputs_.get(), 0, &ret, &sequence),
            NRT_INVALID_HANDLE);
  EXPECT_EQ(sequence, 77u);
  EXPECT_EQ(ret, NRT_CLOSED);
  ASSERT_EQ(schedule_write(nullptr, &sequence), NRT_SUCCESS);
  EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(sequence), 1u);
  ASSERT_EQ(schedule(nullptr, &sequence), NRT_SUCCESS);
  EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(sequence), 1u);
}

TEST_F(Sequence, NeverIssuedIsInvalidAndNotCompleted) {
  nrta_seq_t issued = 0;
  ASSERT_EQ(schedule(nullptr, &issued), NRT_SUCCESS);
  await(issued);
  for (const nrta_seq_t never : {nrta_seq_t{0}, issued + 1, issued - 1, ~nrta_seq_t{0}}) {
    bool completed = true;
    EXPECT_EQ(nrta_is_completed(never, &completed), NRT_INVALID) << std::hex << never;
    EXPECT_FALSE(completed);
  }
  EXPECT_EQ(nrta_is_completed(issued, nullptr), NRT_INVALID);
  EXPECT_EQ((nrta_get_sequence)(0, NRTA_XU_COMPUTE, 0, nullptr), NRT_INVALID);
}

TEST_F(Sequence, OfAnUnknownUnitIsInvalid) {
  nrta_seq_t sequence = 77;
  EXPECT_EQ(nrta_get_sequence(2, NRTA_XU_COMPUTE, 0, &sequence), NRT_INVALID);
  EXPECT_EQ(nrta_get_sequence(0, NRTA_XU_TYPE_NUM, 0, &sequence), NRT_INVALID);
  EXPECT_EQ(nrta_get_sequence(0, NRTA_XU_COMPUTE, 1, &sequence), NRT_INVALID);
  EXPECT_EQ(nrta_get_sequence(0, NRTA_XU_TENSOR_OP, 2, &sequence), NRT_INVALID);
  EXPECT_EQ(nrta_get_sequence(0, NRTA_XU_COLLECTIVES, -1, &sequence), NRT_INVALID);
  EXPECT_EQ(sequence, 77u);
}

TEST_F(Sequence, NamesTheCoreAndTheKindOfItsUnit) {
  nrta_seq_t sequence = 0;
  for (const nrta_xu_t kind : {NRTA_XU_TENSOR_OP, NRTA_XU_COMPUTE, NRTA_XU_COLLECTIVES}) {
    ASSERT_EQ(nrta_get_sequence(1, kind, 0, &sequence), NRT_SUCCESS);
    EXPECT_EQ(NRTA_SEQ_LNC(sequence), 1u);
    EXPECT_EQ(NRTA_SEQ_XU(sequence), kind);
  }
  ASSERT_EQ(nrta_get_sequence(0, NRTA_XU_TENSOR_OP, 1, &sequence), NRT_SUCCESS);
  EXPECT_EQ(NRTA_SEQ_LNC(sequence), 0u);
  EXPECT_EQ(NRTA_SEQ_XU(sequence), NRTA_XU_TENSOR_OP);
  EXPECT_EQ(nrta_get_sequence(0, NRTA_XU_SEND_RECV, 0, &sequence), NRT_INVALID);
}

TEST_F(Sequence, MayBeLeftUnreportedAndSoMayTheStatus) {
  ASSERT_EQ(schedule(nullptr, nullptr), NRT_SUCCESS);
  nrta_seq_t second = 0;
  ASSERT_EQ(schedule(nullptr, &second), NRT_SUCCESS);
  EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(second), 2u);
  await(second);
}

TEST_F(Sequence, OfA228ProgramCountsFiveKindsOfUnits) {
  std::vector<float> back(host_.size());
  ScopedTensor other(kTinyInputBytes);
  nrta_seq_t write = 0, copy = 0, read = 0, execution = 0;
  ASSERT_EQ(v2_write(input_.get(), host_.data(), kTinyInputBytes, 0, nullptr, &write), NRT_SUCCESS);
  await(write);
  ASSERT_EQ(v2_copy(input_.get(), other.get(), kTinyInputBytes, 0, nullptr, &copy), NRT_SUCCESS);
  await(copy);
  ASSERT_EQ(v2_read(back.data(), other.get(), kTinyInputBytes, 1, nullptr, &read), NRT_SUCCESS);
  await(read);
  ASSERT_EQ(v2_execute(model_, inputs_.get(), outputs_.get(), nullptr, &execution), NRT_SUCCESS);
  await(execution);
  EXPECT_EQ(back, host_);
  EXPECT_EQ(read_output(), tiny_reference(host_));
  EXPECT_EQ(last_of_v2(V2_WRITE), write);
  EXPECT_EQ(last_of_v2(V2_OP), copy);
  EXPECT_EQ(last_of_v2(V2_READ, 1), read);
  EXPECT_EQ(last_of_v2(V2_COMPUTE), execution);
  EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(last_of_v2(V2_COLLECTIVES)), 0u);
}

TEST_F(Sequence, OfBothNumberingsIsOneForUnitsThatBothHave) {
  nrta_seq_t sequence = 0;
  ASSERT_EQ(v2_execute(model_, inputs_.get(), outputs_.get(), nullptr, &sequence), NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(last_completed(NRTA_XU_COMPUTE), sequence);
  ASSERT_EQ(schedule_write(nullptr, &sequence), NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(last_of_v2(V2_OP), sequence);
  EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(last_of_v2(V2_WRITE)), 0u);
}

}  // namespace
}  // namespace millrace::test
