// Calls that run out of memory return so, whichever of their allocations fails, and succeed once
// there is memory.
#include "base/unique_fd.h"
#include "nrt/nrt_sys_trace.h"
#include "tests/nrt/event_fd.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/address_checks.h"
#include "tests/support/counting_new.h"

namespace millrace::test {
namespace {

class OutOfMemory : public NrtModelTest {
 protected:
  // Units of few requests, which need few allocations.
  OutOfMemory()
      : NrtModelTest("faulty-cpu",
                     {{"MILLRACE_NRT_COMPUTE_DEPTH", "2"}, {"MILLRACE_NRT_TRANSFER_DEPTH", "2"}}) {}

  // Repeats the call with one more allocation allowed each time, until none fails.
  template <class Call>
  static void expect_resource(Call&& call) {
    for (size_t count = 0;; ++count) {
      const FailingAllocation failing(count);
      const NRT_STATUS status = call();
      if (!failing.happened()) {
        EXPECT_EQ(status, NRT_SUCCESS);
        return;
      }
      // Some calls succeed without the memory.
      EXPECT_TRUE(status == NRT_RESOURCE || status == NRT_SUCCESS) << status << " at " << count;
    }
  }
};

TEST_F(OutOfMemory, AtTensors) {
  expect_resource([] {
    nrt_tensor_t* tensor = nullptr;
    const NRT_STATUS status =
        nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 4096, "a longer name", &tensor);
    nrt_tensor_free(&tensor);
    return status;
  });
  expect_resource([&] {
    nrt_tensor_t* slice = nullptr;
    const NRT_STATUS status =
        nrt_tensor_allocate_slice(input_.get(), 0, 8, "the name of a slice", &slice);
    nrt_tensor_free(&slice);
    return status;
  });
  std::array<std::byte, 64> buffer{};
  const ScopedTensor attached(64);
  expect_resource(
      [&] { return nrt_tensor_attach_buffer(attached.get(), buffer.data(), buffer.size()); });
}

TEST_F(OutOfMemory, AtSets) {
  expect_resource([&] {
    nrt_tensor_set_t* set = nullptr;
    NRT_STATUS status = nrt_allocate_tensor_set(&set);
    if (status == NRT_SUCCESS)
      status = nrt_add_tensor_to_tensor_set(set, "a name that is not short", input_.get());
    nrt_destroy_tensor_set(&set);
    return status;
  });
}

TEST_F(OutOfMemory, AtModels) {
  const LeaksAllowed by_onednn;  // of what it has made before it runs out of memory
  const std::vector<std::byte> bytes = tiny_archive({.batch_size = 2});
  expect_resource([&] {
    nrt_model_t* model = nullptr;
    nrt_tensor_info_array_t* info = nullptr;
    NRT_STATUS status = nrt_load(bytes.data(), bytes.size(), -1, 1, &model);
    if (status != NRT_SUCCESS) return status;
    status = nrt_get_model_tensor_info(model, &info);
    nrt_free_model_tensor_info(info);
    nrt_unload(model);
    return status;
  });
}

TEST_F(OutOfMemory, AtExecutions) {
  write_input(some_input(3));
  expect_resource([&] { return execute(); });
  EXPECT_EQ(read_output(), tiny_reference(some_input(3)));
}

TEST_F(OutOfMemory, AtScheduledRequests) {
  nrta_seq_t execution = 0, transfer = 0;
  expect_resource([&] {
    const NRT_STATUS status = schedule(nullptr, &execution);
    if (status == NRT_SUCCESS) await(execution);
    return status;
  });
  expect_resource([&] {
    const NRT_STATUS status = schedule_write(nullptr, &transfer);
    if (status == NRT_SUCCESS) await(transfer);
    return status;
  });
}

TEST_F(OutOfMemory, AtCollectives) {
  uint32_t group[] = {0};
  nrt_cc_comm_t comm{group, 0, 1, 0, 1, 0};
  nrt_tensor_list_t list{input_.address(), 1};
  nrt_cc_context_t* context = nullptr;
  nrta_seq_t sequence = 0;
  const auto prepare = [&] {
    return nrta_cc_prepare(&comm, &list, &list, NRT_DTYPE_FLOAT32, NRT_OP_ADD, NRT_CC_ALLREDUCE,
                           &context);
  };
  expect_resource(prepare);
  expect_resource([&] {
    // After a call that succeeded although an allocation failed.
    if (context == nullptr) {
      if (const NRT_STATUS prepared = prepare(); prepared != NRT_SUCCESS) return prepared;
    }
    const NRT_STATUS status =
        nrta_cc_schedule(&context, 0, static_cast<NRT_STATUS*>(nullptr), &sequence);
    EXPECT_EQ(context == nullptr, status == NRT_SUCCESS);
    return status;
  });
  await(sequence);
}

TEST_F(OutOfMemory, AtNotifications) {
  transfers().hold();
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule_write(nullptr, &sequence), NRT_SUCCESS);
  EventFd event;
  expect_resource([&] { return nrta_event_register_seq_id_completion(sequence, event.get()); });
  expect_resource(
      [&] { return nrta_event_register_xu_completion(0, NRTA_XU_COLLECTIVES, 1, event.get()); });
  expect_resource([&] {
    int number = -1;
    const NRT_STATUS status = nrta_get_completion_handle(sequence, &number);
    const UniqueFd handle(number);
    return status;
  });
  expect_resource([&] {
    nrta_error_tracker_t* tracker = nullptr;
    const NRT_STATUS status = nrta_error_tracker_create(0, &tracker);
    nrta_error_tracker_destroy(tracker);
    return status;
  });
  transfers().release();
  EXPECT_EQ(event.await(), 1u);
}

TEST_F(OutOfMemory, AtInit) {
  nrt_close();
  expect_resource([] { return nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""); });
  const ScopedTensor tensor(16);
}

TEST_F(OutOfMemory, AtTraces) {
  expect_resource([] { return nrt_sys_trace_start(nullptr); });
  expect_resource([] { return nrt_sys_trace_stop(); });
}

}  // namespace
}  // namespace millrace::test
