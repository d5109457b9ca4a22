// Full queues: refused at submission, without a trace.
#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {
namespace {

// One request per unit, two on the transfer units.
class QueueFull : public NrtModelTest {
 protected:
  QueueFull()
      : NrtModelTest("faulty-cpu", {{"MILLRACE_NRT_COMPUTE_DEPTH", "1"},
                                    {"MILLRACE_NRT_COLLECTIVES_DEPTH", "1"},
                                    {"MILLRACE_NRT_TRANSFER_DEPTH", "2"}}) {}
};

TEST_F(QueueFull, CountsTheRunningRequestAndChangesNothing) {
  executions().hold();
  nrta_seq_t first = 0, sequence = 77;
  NRT_STATUS ret = kUntouched;
  ASSERT_EQ(schedule(nullptr, &first), NRT_SUCCESS);
  executions().await_holds(1);
  EXPECT_EQ(schedule(&ret, &sequence), NRT_QUEUE_FULL);
  EXPECT_EQ(ret, kUntouched);
  EXPECT_EQ(sequence, 77u);
  bool completed = true;
  EXPECT_EQ(nrta_is_completed(first + 1, &completed), NRT_INVALID);
  executions().release();
  await(first);
  ASSERT_EQ(schedule(&ret, &sequence), NRT_SUCCESS);
  EXPECT_EQ(sequence, first + 1);
  await(sequence);
  EXPECT_EQ(ret, NRT_SUCCESS);
}

TEST_F(QueueFull, MayBeAFaultOfAPlan) {
  executions().apply(device::FaultPlan::parse("full:jobs=1").value());
  transfers().apply(device::FaultPlan::parse("full:jobs=2", device::Work::kTransfer).value());
  nrta_seq_t sequence = 77, last = 0;
  NRT_STATUS ret = kUntouched;
  EXPECT_EQ(schedule(&ret, &sequence), NRT_QUEUE_FULL);
  EXPECT_EQ(ret, kUntouched);
  EXPECT_EQ(sequence, 77u);
  ASSERT_EQ(schedule(&ret, &last), NRT_SUCCESS);
  EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(last), 1u) << "the refused call took no id";
  await(last);
  EXPECT_EQ(schedule_write(nullptr, &last), NRT_SUCCESS);
  EXPECT_EQ(schedule_write(nullptr, nullptr), NRT_QUEUE_FULL);
  await(last);
}

TEST_F(QueueFull, OfTransfersHasADepthOfItsOwn) {
  transfers().hold();
  nrta_seq_t first = 0, last = 0;
  ASSERT_EQ(schedule_write(nullptr, &first), NRT_SUCCESS);
  transfers().await_holds(1);  // before the other queue comes to the gate
  ASSERT_EQ(schedule_write(nullptr, &last), NRT_SUCCESS);
  EXPECT_EQ(schedule_write(nullptr, nullptr), NRT_QUEUE_FULL);
  EXPECT_EQ(schedule_write(nullptr, nullptr, 1), NRT_SUCCESS);
  transfers().let_through(1);
  await(first);
  EXPECT_EQ(schedule_write(nullptr, &last), NRT_SUCCESS);
  EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(last), 3u);
  transfers().release();
  await(last);
}

TEST_F(QueueFull, IsNotRepeatedAfterACompletion) {
  nrta_seq_t sequence = 0;
  for (uint64_t counter = 1; counter <= 2000; ++counter) {
    ASSERT_EQ(schedule(nullptr, &sequence), NRT_SUCCESS);
    ASSERT_EQ(NRTA_SEQ_GET_SEQ_NUM(sequence), counter);
    while (last_completed(NRTA_XU_COMPUTE) < sequence) std::this_thread::yield();
  }
}

TEST_F(QueueFull, IsNoErrorOfTheTracker) {
  executions().hold();
  nrta_error_tracker_t* tracker = nullptr;
  ASSERT_EQ(nrta_error_tracker_create(0, &tracker), NRT_SUCCESS);
  nrta_seq_t sequence = 0;
  ASSERT_EQ(nrta_execute_schedule(model_, inputs_.get(), outputs_.get(), 0, tracker, &sequence),
            NRT_SUCCESS);
  EXPECT_EQ(nrta_execute_schedule(model_, inputs_.get(), outputs_.get(), 0, tracker, nullptr),
            NRT_QUEUE_FULL);
  executions().release();
  await(sequence);
  const nrta_error_t* list = nullptr;
  size_t count = 1;
  ASSERT_EQ(nrta_error_tracker_get_list(tracker, &list, &count), NRT_SUCCESS);
  EXPECT_EQ(count, 0u);
  nrta_error_tracker_destroy(tracker);
}

TEST_F(QueueFull, IsWaitedOutBySynchronousCalls) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) ASSERT_EQ(execute(), NRT_SUCCESS);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(last_completed(NRTA_XU_COMPUTE)), 400u);
}

TEST_F(QueueFull, LeavesACollectiveForAnotherTry) {
  uint32_t group[] = {0};
  nrt_cc_comm_t comm{group, 0, 1, 0, 1, 0};
  nrt_tensor_list_t list{input_.address(), 1};
  nrt_cc_context_t *first = nullptr, *second = nullptr;
  for (nrt_cc_context_t** context : {&first, &second})
    ASSERT_EQ(nrta_cc_prepare(&comm, &list, &list, NRT_DTYPE_FLOAT32, NRT_OP_ADD, NRT_CC_ALLREDUCE,
                              context),
              NRT_SUCCESS);
  nrt_cc_context_t* const waiting = second;
  transfers().hold();
  nrta_seq_t sequence = 0, refused = 77;
  NRT_STATUS ret = kUntouched;
  ASSERT_EQ(nrta_cc_schedule(&first, 0, static_cast<NRT_STATUS*>(nullptr), &sequence), NRT_SUCCESS);
  EXPECT_EQ(first, nullptr);
  EXPECT_EQ(nrta_cc_schedule(&second, 0, &ret, &refused), NRT_QUEUE_FULL);
  EXPECT_EQ(second, waiting);
  EXPECT_EQ(refused, 77u);
  transfers().release();
  await(sequence);
  EXPECT_EQ(ret, kUntouched);
  EXPECT_EQ(nrta_cc_schedule(&second, 0, &ret, &sequence), NRT_SUCCESS);
  EXPECT_EQ(second, nullptr);
  await(sequence);
  EXPECT_EQ(ret, NRT_SUCCESS);
}

}  // namespace
}  // namespace millrace::test
