// Traces show all calls that do something, but none of those that programs poll with.
#include <gmock/gmock.h>

#include <set>

#include "nrt/nrt_async_sendrecv.h"
#include "nrt/nrt_experimental.h"
#include "tests/nrt/event_fd.h"
#include "tests/nrt/trace_fixture.h"

namespace millrace::test {
namespace {

using testing::IsEmpty;
using testing::IsSupersetOf;

std::set<std::string> types_in(const Json& trace) {
  std::set<std::string> types;
  for (const Json& event : trace.at("events")) types.insert(event.at("event_type"));
  return types;
}

class TraceCalls : public TraceTest {};

TEST_F(TraceCalls, HaveSetsOfTensors) {
  start();
  {
    const ScopedSet set("x", input_.get());
    nrt_tensor_t* found = nullptr;
    EXPECT_EQ(nrt_get_tensor_from_tensor_set(set.get(), "x", &found), NRT_SUCCESS);
  }
  EXPECT_THAT(types_in(fetch()),
              IsSupersetOf({"nrt_allocate_tensor_set", "nrt_add_tensor_to_tensor_set",
                            "nrt_get_tensor_from_tensor_set", "nrt_destroy_tensor_set"}));
}

TEST_F(TraceCalls, HaveErrorTrackers) {
  start();
  nrta_error_tracker_t* tracker = nullptr;
  ASSERT_EQ(nrta_error_tracker_create(0, &tracker), NRT_SUCCESS);
  nrta_error_tracker_destroy(tracker);
  EXPECT_THAT(types_in(fetch()),
              IsSupersetOf({"nrta_error_tracker_create", "nrta_error_tracker_destroy"}));
}

TEST_F(TraceCalls, HaveWhatIsRegisteredForCompletion) {
  const EventFd event;
  start();
  ASSERT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 0, event.get()), NRT_SUCCESS);
  const nrta_seq_t sequence = schedule_and_wait();
  ASSERT_EQ(nrta_event_register_seq_id_completion(sequence, event.get()), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_check_output_completion(output_.get(), -1, 1), NRT_SUCCESS);
  const Json trace = fetch();
  EXPECT_THAT(types_in(trace), IsSupersetOf({"nrta_event_register_xu_completion",
                                             "nrt_tensor_check_output_completion"}));
  const std::vector<Json> registered = of_type(trace, "nrta_event_register_seq_id_completion");
  ASSERT_EQ(registered.size(), 2u);
  EXPECT_EQ(registered[0].at("data").at("sequence_id"), hex(sequence));
}

TEST_F(TraceCalls, HaveSendsAndReceivesButNotTheirPolls) {
  start();
  bool done = false;
  ASSERT_EQ(nrt_async_sendrecv_init(0), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_connect(nullptr, 1, 0, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_async_sendrecv_accept(nullptr, 1, 0, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_async_sendrecv_test_comm(nullptr, &done), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_async_sendrecv_send_tensor(input_.get(), 0, 1, nullptr, nullptr),
            NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_async_sendrecv_recv_tensor(input_.get(), 0, 1, nullptr, nullptr),
            NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_async_sendrecv_test_request(nullptr, &done, nullptr), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_async_sendrecv_close(0), NRT_SUCCESS);
  EXPECT_THAT(types_in(fetch()), testing::UnorderedElementsAre(
                                     "nrt_async_sendrecv_init", "nrt_async_sendrecv_connect",
                                     "nrt_async_sendrecv_accept", "nrt_async_sendrecv_send_tensor",
                                     "nrt_async_sendrecv_recv_tensor", "nrt_async_sendrecv_close"));
}

TEST_F(TraceCalls, HaveQuestionsAboutAModel) {
  start();
  nrt_tensor_info_array_t* tensors = nullptr;
  ASSERT_EQ(nrt_get_model_tensor_info(model_, &tensors), NRT_SUCCESS);
  nrt_free_model_tensor_info(tensors);
  EXPECT_THAT(types_in(fetch()),
              IsSupersetOf({"nrt_get_model_tensor_info", "nrt_free_model_tensor_info"}));
}

TEST_F(TraceCalls, HaveTheBeginAndTheEndOfTheRuntime) {
  nrt_close();
  start();
  ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  nrt_close();
  const Json trace = fetch();
  EXPECT_EQ(of_type(trace, "nrt_init").size(), 2u);
  EXPECT_EQ(of_type(trace, "nrt_close").size(), 2u);
}

TEST_F(TraceCalls, HaveNoPolling) {
  nrta_error_tracker_t* tracker = nullptr;
  ASSERT_EQ(nrta_error_tracker_create(0, &tracker), NRT_SUCCESS);
  const nrta_seq_t sequence = schedule_and_wait();
  start();
  EXPECT_TRUE(is_completed(sequence));
  EXPECT_EQ(last_completed(NRTA_XU_COMPUTE), sequence);
  const nrta_error_t* errors = nullptr;
  size_t count = 0;
  EXPECT_EQ(nrta_error_tracker_get_list(tracker, &errors, &count), NRT_SUCCESS);
  EXPECT_THAT(types_in(fetch()), IsEmpty());
  nrta_error_tracker_destroy(tracker);
}

TEST_F(TraceCalls, HavePinnedMemoryWithTheOtherMemory) {
  for (const bool memory : {false, true}) {
    ASSERT_EQ(nrt_trace_start(memory), NRT_SUCCESS);
    nrt_pinned_free(nrt_pinned_malloc(64, NRT_PINNED_MALLOC));
    const std::string file = directory_.file("trace.json");
    ASSERT_EQ(nrt_trace_stop(file.c_str()), NRT_SUCCESS);
    EXPECT_EQ(slices_of(parse_file(file)).size(), memory ? 2u : 0u);
  }
}

}  // namespace
}  // namespace millrace::test
