// After the first requests, a request allocates nothing, however its completion is learned of.
#include <sys/eventfd.h>

#include "base/unique_fd.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/nrt/send_receive_fixture.h"
#include "tests/support/steady_allocations.h"

namespace millrace::test {
namespace {

class NrtAllocations : public NrtModelTest {
 protected:
  NrtAllocations() : NrtModelTest("null") {}

  bool executes_well() {
    const NRT_STATUS scheduled = schedule(&ret_, &sequence_);
    return ends_well(scheduled, ret_, sequence_);
  }
  // Whether the request ended well.
  static bool ends_well(NRT_STATUS scheduled, const NRT_STATUS& ret, nrta_seq_t sequence) {
    if (scheduled != NRT_SUCCESS) return false;
    await(sequence);
    return ret == NRT_SUCCESS;
  }

  std::vector<std::byte> buffer_{kTinyOutputBytes};
  NRT_STATUS ret_ = NRT_FAILURE;
  nrta_seq_t sequence_ = 0;
};

TEST_F(NrtAllocations, NoneForAScheduledExecution) {
  EXPECT_EQ(steady_allocations([&] { return executes_well(); }), 0u);
}

TEST_F(NrtAllocations, NoneForASynchronousExecution) {
  EXPECT_EQ(steady_allocations([&] { return execute() == NRT_SUCCESS; }), 0u);
}

TEST_F(NrtAllocations, NoneForTransfers) {
  ScopedTensor target(kTinyInputBytes);
  EXPECT_EQ(steady_allocations([&] {
              const NRT_STATUS written = nrta_tensor_write(
                  input_.get(), buffer_.data(), 0, kTinyInputBytes, 0, 0, &ret_, &sequence_);
              if (!ends_well(written, ret_, sequence_)) return false;
              const NRT_STATUS copied = nrta_tensor_copy(input_.get(), 0, target.get(), 0,
                                                         kTinyInputBytes, 0, 1, &ret_, &sequence_);
              if (!ends_well(copied, ret_, sequence_)) return false;
              const NRT_STATUS read = nrta_tensor_read(buffer_.data(), target.get(), 0,
                                                       kTinyInputBytes, 0, 1, &ret_, &sequence_);
              return ends_well(read, ret_, sequence_);
            }),
            0u);
}

TEST_F(NrtAllocations, NoneForACollectiveAndItsPreparation) {
  ScopedTensor tensor(kTinyInputBytes);
  uint32_t only = 0;
  nrt_cc_comm_t comm{&only, 0, 1, 0, 1, 0};
  nrt_tensor_t* handle = tensor.get();
  nrt_tensor_list_t list{&handle, 1};
  EXPECT_EQ(steady_allocations([&] {
              nrt_cc_context_t* context = nullptr;
              const NRT_STATUS prepared = nrta_cc_prepare(&comm, &list, &list, NRT_DTYPE_FLOAT32,
                                                          NRT_OP_ADD, NRT_CC_ALLREDUCE, &context);
              if (prepared != NRT_SUCCESS) return false;
              const NRT_STATUS scheduled = nrta_cc_schedule(&context, 0, &ret_, &sequence_);
              return ends_well(scheduled, ret_, sequence_);
            }),
            0u);
}

TEST_F(NrtAllocations, NoneForARequestWithATracker) {
  nrta_error_tracker_t* tracker = nullptr;
  ASSERT_EQ(nrta_error_tracker_create(0, &tracker), NRT_SUCCESS);
  EXPECT_EQ(steady_allocations([&] {
              const NRT_STATUS scheduled = nrta_execute_schedule(
                  model_, inputs_.get(), outputs_.get(), 0, tracker, &sequence_);
              const nrta_error_t* errors = nullptr;
              size_t count = 1;
              return ends_well(scheduled, NRT_SUCCESS, sequence_) &&
                     nrta_error_tracker_get_list(tracker, &errors, &count) == NRT_SUCCESS &&
                     count == 0;
            }),
            0u);
  nrta_error_tracker_destroy(tracker);
}

TEST_F(NrtAllocations, NoneForThePerUnitEventFd) {
  const UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  ASSERT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 0, event.get()), NRT_SUCCESS);
  EXPECT_EQ(steady_allocations([&] { return executes_well(); }), 0u);
}

// The requests of a unit run one after another, so one copy of an input serves all of them.
TEST_F(NrtAllocations, OneCopyForExecutionsInPlace) {
  constexpr uint32_t kFrames = 1000;
  nrt_model_t* const model = load(0, {.batch_size = kFrames});
  const ScopedTensor input(kFrames * kTinyInputBytes), output(kFrames * kTinyOutputBytes);
  nrt_tensor_t* shared = nullptr;
  ASSERT_EQ(nrt_tensor_allocate_slice(output.get(), 0, kFrames * kTinyInputBytes, "s", &shared),
            NRT_SUCCESS);
  const ScopedSet inputs(kTinyInput, input.get()), in_place(kTinyInput, shared);
  const ScopedSet outputs(kTinyOutput, output.get());
  const auto bytes_for_three = [&](const ScopedSet& from) {
    const size_t before = allocated_bytes();
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(nrt_execute(model, from.get(), outputs.get()), NRT_SUCCESS);
    return allocated_bytes() - before;
  };
  ASSERT_EQ(nrt_execute(model, in_place.get(), outputs.get()), NRT_SUCCESS);
  const size_t elsewhere = bytes_for_three(inputs);
  EXPECT_LT(bytes_for_three(in_place), elsewhere + kFrames * kTinyInputBytes);
  nrt_tensor_free(&shared);
}

// Freeing must not fail when memory is short.
TEST_F(NrtAllocations, NoneForFreeing) {
  std::vector<nrt_tensor_t*> tensors(1000);
  std::vector<nrt_tensor_set_t*> sets(1000);
  for (nrt_tensor_t*& tensor : tensors)
    ASSERT_EQ(nrt_tensor_allocate_empty("t", &tensor), NRT_SUCCESS);
  for (nrt_tensor_set_t*& set : sets) ASSERT_EQ(nrt_allocate_tensor_set(&set), NRT_SUCCESS);
  const size_t before = allocation_count();
  for (nrt_tensor_t*& tensor : tensors) nrt_tensor_free(&tensor);
  for (nrt_tensor_set_t*& set : sets) nrt_destroy_tensor_set(&set);
  EXPECT_EQ(allocation_count(), before);
}

class SendReceiveAllocations : public SendReceiveTest {};

TEST_F(SendReceiveAllocations, NoneForASendAndAReceive) {
  connect();
  const ScopedTensor from(4096), to(4096, 1);
  EXPECT_EQ(steady_allocations([&] {
              auto* const receiving = receive(to, 0, 4096);
              auto* const sending = send(from, 0, 4096);
              return await_request(receiving) == NRT_SUCCESS &&
                     await_request(sending) == NRT_SUCCESS;
            }),
            0u);
}

}  // namespace
}  // namespace millrace::test
