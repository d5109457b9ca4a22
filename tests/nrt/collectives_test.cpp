// Collectives of one rank.
#include <array>

#include "nrt/nrt_experimental.h"
#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {
namespace {

class Collectives : public NrtTest {
 protected:
  Collectives() : NrtTest("faulty") {}

  using List = std::vector<nrt_tensor_t*>;

  NRT_STATUS prepare(List inputs, List outputs, nrt_cc_op_type_t kind = NRT_CC_ALLGATHER,
                     nrt_op_type_t reduction = NRT_OP_ADD, nrt_dtype_t type = NRT_DTYPE_FLOAT32) {
    nrt_tensor_list_t from{inputs.data(), inputs.size()}, to{outputs.data(), outputs.size()};
    return nrta_cc_prepare(&comm_, &from, &to, type, reduction, kind, &context_);
  }
  // Schedules the prepared collective, and waits for it.
  void run(int queue = 0) {
    NRT_STATUS ret = NRT_FAILURE;
    nrta_seq_t sequence = 0;
    ASSERT_EQ(nrta_cc_schedule(&context_, queue, &ret, &sequence), NRT_SUCCESS);
    EXPECT_EQ(context_, nullptr);
    await(sequence);
    EXPECT_EQ(ret, NRT_SUCCESS);
  }
  static void write(const ScopedTensor& tensor, std::string_view text) {
    ASSERT_EQ(nrt_tensor_write(tensor.get(), text.data(), 0, text.size()), NRT_SUCCESS);
  }
  static std::string read(const ScopedTensor& tensor) {
    std::string text(nrt_tensor_get_size(tensor.get()), '?');
    EXPECT_EQ(nrt_tensor_read(tensor.get(), text.data(), 0, text.size()), NRT_SUCCESS);
    return text;
  }

  uint32_t group_ = 0;
  nrt_cc_comm_t comm_{&group_, 0, 1, 0, 1, 0};
  nrt_cc_context_t* context_ = nullptr;
  const ScopedTensor four_{4}, other_four_{4}, eight_{8};
};

TEST_F(Collectives, CopyTheirInputs) {
  for (const nrt_cc_op_type_t kind : {NRT_CC_ALLGATHER, NRT_CC_ALLREDUCE, NRT_CC_REDUCESCATTER}) {
    const std::string text = "abc" + std::to_string(kind);
    write(four_, text);
    ASSERT_EQ(prepare({four_.get()}, {other_four_.get()}, kind), NRT_SUCCESS);
    run();
    EXPECT_EQ(read(other_four_), text);
  }
}

TEST_F(Collectives, MayBeInPlace) {
  write(eight_, "in place");
  ASSERT_EQ(prepare({eight_.get()}, {eight_.get()}, NRT_CC_ALLREDUCE), NRT_SUCCESS);
  run();
  EXPECT_EQ(read(eight_), "in place");
}

TEST_F(Collectives, GatherIntoAListAndScatterFromOne) {
  write(eight_, "onetwo##");
  ASSERT_EQ(prepare({eight_.get()}, {four_.get(), other_four_.get()}), NRT_SUCCESS);
  run();
  EXPECT_EQ(read(four_) + read(other_four_), "onetwo##");
  write(four_, "THRE");
  ASSERT_EQ(prepare({four_.get(), other_four_.get()}, {eight_.get()}, NRT_CC_REDUCESCATTER),
            NRT_SUCCESS);
  run();
  EXPECT_EQ(read(eight_), "THREwo##");
}

TEST_F(Collectives, ListsMustBelongTogether) {
  const List one{eight_.get()}, two{four_.get(), other_four_.get()}, small{four_.get()};
  EXPECT_EQ(prepare(one, two, NRT_CC_ALLREDUCE), NRT_INVALID);
  EXPECT_EQ(prepare(two, one, NRT_CC_ALLGATHER), NRT_INVALID);
  EXPECT_EQ(prepare(one, small), NRT_INVALID);
  EXPECT_EQ(prepare({}, one), NRT_INVALID);
  EXPECT_EQ(prepare(one, {}), NRT_INVALID);
  EXPECT_EQ(prepare({nullptr}, one), NRT_INVALID);
  const ScopedTensor elsewhere(8, 1);
  EXPECT_EQ(prepare(one, {elsewhere.get()}), NRT_INVALID);
  EXPECT_EQ(context_, nullptr);
}

TEST_F(Collectives, OperationsAreChecked) {
  const List one{four_.get()};
  EXPECT_EQ(prepare(one, one, static_cast<nrt_cc_op_type_t>(3)), NRT_INVALID);
  for (const nrt_op_type_t reduction : {NRT_OP_FMA, NRT_OP_INVALID}) {
    EXPECT_EQ(prepare(one, one, NRT_CC_ALLREDUCE, reduction), NRT_INVALID);
    EXPECT_EQ(prepare(one, one, NRT_CC_REDUCESCATTER, reduction), NRT_INVALID);
  }
  EXPECT_EQ(prepare(one, one, NRT_CC_ALLREDUCE, NRT_OP_ADD, NRT_DTYPE_INVALID), NRT_INVALID);
  EXPECT_EQ(prepare(one, one, NRT_CC_ALLREDUCE, NRT_OP_ADD, NRT_DTYPE_INT64), NRT_INVALID);
  EXPECT_EQ(prepare(one, one, NRT_CC_ALLGATHER, NRT_OP_INVALID), NRT_SUCCESS);  // reduces nothing
}

// The operation is refused before the other ranks are waited for.
TEST_F(Collectives, OperationsAreCheckedAlikeForManyRanks) {
  const List one{four_.get()};
  std::array<uint32_t, 2> both{0, 1};
  comm_ = {both.data(), 0, 2, 0, 2, 0};
  EXPECT_EQ(prepare(one, one, static_cast<nrt_cc_op_type_t>(3)), NRT_INVALID);
  EXPECT_EQ(prepare(one, one, NRT_CC_ALLREDUCE, NRT_OP_FMA), NRT_INVALID);
  EXPECT_EQ(prepare(one, one, NRT_CC_ALLREDUCE, NRT_OP_ADD, NRT_DTYPE_INVALID), NRT_INVALID);
  EXPECT_EQ(prepare(one, one, NRT_CC_ALLREDUCE, NRT_OP_MAX), NRT_FAILURE);  // nowhere to meet
}

TEST_F(Collectives, RunOnEachOfTheThreeQueues) {
  for (const int queue : {0, 1, 2}) {
    const std::string text = "on " + std::to_string(queue);
    write(four_, text);
    ASSERT_EQ(prepare({four_.get()}, {other_four_.get()}, NRT_CC_ALLREDUCE), NRT_SUCCESS);
    run(queue);
    EXPECT_EQ(read(other_four_), text);
  }
}

TEST_F(Collectives, MoreThanOneRankNeedsAPlaceToMeet) {
  const List one{four_.get()};
  comm_.rank_n = 2;
  EXPECT_EQ(prepare(one, one), NRT_INVALID);  // more than there are
  std::array<uint32_t, 2> both{0, 1};
  nrt_cc_comm_t two{both.data(), 0, 2, 0, 2, 0};
  std::swap(comm_, two);
  EXPECT_EQ(prepare(one, one), NRT_FAILURE);
  std::swap(comm_, two);
  comm_.rank_n = 1;
  comm_.rank = 1;
  EXPECT_EQ(prepare(one, one), NRT_INVALID);
  comm_.rank = 0;
  comm_.vnc = 2;
  EXPECT_EQ(prepare(one, one), NRT_INVALID);
  nrt_tensor_list_t list{nullptr, 0};
  EXPECT_EQ(nrta_cc_prepare(nullptr, &list, &list, NRT_DTYPE_INT8, NRT_OP_ADD, NRT_CC_ALLREDUCE,
                            &context_),
            NRT_INVALID);
}

TEST_F(Collectives, AContextIsScheduledOnce) {
  ASSERT_EQ(prepare({four_.get()}, {four_.get()}), NRT_SUCCESS);
  nrt_cc_context_t* same = context_;
  EXPECT_EQ(nrta_cc_schedule(&context_, 3, nullptr, nullptr), NRT_INVALID);  // no such queue
  EXPECT_EQ(context_, same);
  run();
  EXPECT_EQ(nrta_cc_schedule(&same, 0, nullptr, nullptr), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrta_cc_schedule(&context_, 0, nullptr, nullptr), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrta_cc_schedule(nullptr, 0, nullptr, nullptr), NRT_INVALID_HANDLE);
}

TEST_F(Collectives, WithoutAPlaceToMeetTheWorldHasOneRank) {
  for (auto* const call : {nrt_build_global_comm, nrt_barrier}) {
    EXPECT_EQ(call(0, 0, 1), NRT_SUCCESS);
    EXPECT_EQ(call(1, 0, 1), NRT_SUCCESS);
    EXPECT_EQ(call(0, 0, 2), NRT_FAILURE);
    EXPECT_EQ(call(0, 1, 1), NRT_INVALID);
    EXPECT_EQ(call(0, 0, 0), NRT_INVALID);
    EXPECT_EQ(call(2, 0, 1), NRT_INVALID);
  }
  EXPECT_EQ(nrt_cc_global_comm_init(0, 0, 1), NRT_SUCCESS);
  EXPECT_EQ(nrt_cc_global_comm_init(0, 0, 8), NRT_FAILURE);
  EXPECT_EQ(nrt_cc_global_comm_init(2, 0, 1), NRT_INVALID);
  EXPECT_EQ(nrt_cc_create_stream(0), NRT_SUCCESS);
  EXPECT_EQ(nrt_cc_create_stream(3), NRT_RESOURCE);
}

TEST_F(Collectives, HostMemoryIsGathered) {
  std::array<char, 4> from = {'a', 'b', 'c', 'd'}, to{};
  EXPECT_EQ(nrt_all_gather(0, 0, 1, 4, from.data(), to.data()), NRT_SUCCESS);
  EXPECT_EQ(from, to);
  EXPECT_EQ(nrt_all_gather(0, 0, 1, 4, from.data(), from.data()), NRT_SUCCESS);
  EXPECT_EQ(nrt_all_gather(0, 0, 1, 4, nullptr, to.data()), NRT_INVALID);
  EXPECT_EQ(nrt_all_gather(0, 0, 1, 0, nullptr, nullptr), NRT_SUCCESS);
  EXPECT_EQ(nrt_all_gather(0, 0, 2, 4, from.data(), to.data()), NRT_FAILURE);
}

}  // namespace
}  // namespace millrace::test
