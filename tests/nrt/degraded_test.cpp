// Units that are degraded by a failure of the device, or by a request that takes too long.
#include <array>

#include "device/registry.h"
#include "tests/nrt/event_fd.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/library_threads.h"

namespace millrace::test {
namespace {

using Rets = std::array<NRT_STATUS, 3>;

class Degraded : public NrtModelTest {
 protected:
  using NrtModelTest::NrtModelTest;

  // The statuses of three requests, of which the first meets the injected fault.
  Rets run_three() {
    Rets rets{kUntouched, kUntouched, kUntouched};
    executions().hold();
    nrta_seq_t last = 0;
    for (NRT_STATUS& ret : rets) EXPECT_EQ(schedule(&ret, &last), NRT_SUCCESS);
    executions().release();
    await(last);
    return rets;
  }
  void expect_out_of_service() {
    nrta_seq_t sequence = 77;
    NRT_STATUS ret = kUntouched;
    EXPECT_EQ(schedule(&ret, &sequence), NRT_EXEC_UNIT_UNRECOVERABLE);
    EXPECT_EQ(execute(), NRT_EXEC_UNIT_UNRECOVERABLE);
    EXPECT_EQ(ret, kUntouched);
    EXPECT_EQ(sequence, 77u);
  }
};

TEST_F(Degraded, ByTheFailureOfARequestWhichKeepsItsOwnCode) {
  executions().fail_nth(1);
  EXPECT_EQ(run_three(),
            (Rets{NRT_HW_ERROR, NRT_EXEC_UNIT_UNRECOVERABLE, NRT_EXEC_UNIT_UNRECOVERABLE}));
  expect_out_of_service();
}

// A fault plan may name the status, which then arrives as it is.
TEST_F(Degraded, ByAFailureThatThePlanNames) {
  executions().apply(device::FaultPlan::parse("fail:jobs=1,status=1201").value());
  EXPECT_EQ(run_three(), (Rets{NRT_EXEC_HW_ERR_HBM_UE, NRT_EXEC_UNIT_UNRECOVERABLE,
                               NRT_EXEC_UNIT_UNRECOVERABLE}));
  expect_out_of_service();
}

TEST_F(Degraded, NotByAFailureOfTheRequestThatThePlanNames) {
  executions().apply(device::FaultPlan::parse("fail:jobs=1,status=NRT_EXEC_BAD_INPUT;"
                                              "fail:jobs=2,unit=COMPUTE of core 0,status=1006;"
                                              "fail:jobs=3,unit=COMPUTE of core 1,status=1006")
                         .value());
  EXPECT_EQ(run_three(), (Rets{NRT_EXEC_BAD_INPUT, NRT_EXEC_OOB, NRT_SUCCESS}));
  EXPECT_EQ(execute(), NRT_SUCCESS);
}

class AllocationsRefused : public NrtTest {
 protected:
  AllocationsRefused() : NrtTest("faulty-null", {{"MILLRACE_FAULTS", "oom:allocs=2"}}) {}
};

TEST_F(AllocationsRefused, AreThoseThatThePlanNames) {
  for (const NRT_STATUS expected : {NRT_SUCCESS, NRT_RESOURCE, NRT_SUCCESS}) {
    nrt_tensor_t* tensor = nullptr;
    EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 64, "x", &tensor), expected);
    nrt_tensor_free(&tensor);
  }
}

// The status of the CPU device for an index that a model computes.
TEST_F(Degraded, ByNoIndexThatIsOutOfBounds) {
  executions().fail_nth(1, invalid_argument("index 9 is outside a dimension of 3"));
  EXPECT_EQ(run_three(), (Rets{NRT_EXEC_OOB, NRT_SUCCESS, NRT_SUCCESS}));
  EXPECT_EQ(execute(), NRT_SUCCESS);
}

TEST_F(Degraded, CompletesWhatIsQueuedInOrder) {
  nrta_error_tracker_t* tracker = nullptr;
  ASSERT_EQ(nrta_error_tracker_create(0, &tracker), NRT_SUCCESS);
  executions().fail_nth(1);
  executions().hold();
  EventFd event;
  nrta_seq_t last = 0;
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(nrta_execute_schedule(model_, inputs_.get(), outputs_.get(), 0, tracker, &last),
              NRT_SUCCESS);
    ASSERT_EQ(nrta_event_register_seq_id_completion(last, event.get()), NRT_SUCCESS);
  }
  executions().release();
  for (uint64_t woken = 0; woken < 4;) woken += event.await();
  const nrta_error_t* list = nullptr;
  size_t count = 0;
  ASSERT_EQ(nrta_error_tracker_get_list(tracker, &list, &count), NRT_SUCCESS);
  ASSERT_EQ(count, 4u);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(list[i].seq_id, last - 3 + i);
    EXPECT_EQ(list[i].error_code, i == 0 ? NRT_HW_ERROR : NRT_EXEC_UNIT_UNRECOVERABLE);
  }
  nrta_error_tracker_destroy(tracker);
}

TEST_F(Degraded, StillAnswersPolls) {
  executions().fail_nth(1);
  run_three();
  const nrta_seq_t last = last_completed(NRTA_XU_COMPUTE);
  EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(last), 3u);
  EXPECT_TRUE(is_completed(last));
  EventFd event;
  EXPECT_EQ(nrta_event_register_seq_id_completion(last, event.get()), NRT_SUCCESS);
  EXPECT_EQ(event.take(), 1u);
  bool completed = true;
  EXPECT_EQ(nrta_is_completed(last + 1, &completed), NRT_INVALID);
}

TEST_F(Degraded, LeavesOtherUnitsInService) {
  executions().fail_nth(1);
  run_three();
  NRT_STATUS ret = kUntouched;
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule_write(&ret, &sequence), NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(ret, NRT_SUCCESS);
  const ScopedTensor input(kTinyInputBytes, 1), output(kTinyOutputBytes, 1);
  const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
  EXPECT_EQ(nrt_execute(load(1), inputs.get(), outputs.get()), NRT_SUCCESS);
}

TEST_F(Degraded, OfATransferUnitLeavesExecutionsInService) {
  transfers().fail_nth(1);
  NRT_STATUS ret = kUntouched;
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule_write(&ret, &sequence), NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(ret, NRT_HW_ERROR);
  EXPECT_EQ(schedule_write(&ret, &sequence), NRT_EXEC_UNIT_UNRECOVERABLE);
  EXPECT_EQ(schedule_write(&ret, &sequence, 1), NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(execute(), NRT_SUCCESS);
}

TEST_F(Degraded, IsOverAfterCloseAndInit) {
  executions().fail_nth(1);
  run_three();
  nrt_close();
  ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  const ScopedTensor input(kTinyInputBytes), output(kTinyOutputBytes);
  const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
  nrta_seq_t sequence = 0;
  NRT_STATUS ret = kUntouched;
  ASSERT_EQ(nrta_execute_schedule(load(), inputs.get(), outputs.get(), 0, &ret, &sequence),
            NRT_SUCCESS);
  EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(sequence), 1u);
  await(sequence);
  EXPECT_EQ(ret, NRT_SUCCESS);
}

// A request may run for one second.
class TimedOut : public Degraded {
 protected:
  TimedOut() : Degraded("faulty-cpu", {{"NEURON_RT_EXEC_TIMEOUT", "1"}}) {}
};

TEST_F(TimedOut, IsARequestThatHangs) {
  executions().hang_nth(1);
  EXPECT_EQ(run_three(),
            (Rets{NRT_TIMEOUT, NRT_EXEC_UNIT_UNRECOVERABLE, NRT_EXEC_UNIT_UNRECOVERABLE}));
  expect_out_of_service();
}

TEST_F(TimedOut, IsARequestThatGoesOnForTooLong) {
  // Each frame takes less than the limit, all frames together take more.
  executions().slow(std::chrono::milliseconds(400));
  TinyModelOptions options;
  options.batch_size = 5;
  nrt_model_t* const model = load(0, options);
  const ScopedTensor input(5 * kTinyInputBytes), output(5 * kTinyOutputBytes);
  const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
  nrta_seq_t sequence = 0;
  NRT_STATUS ret = kUntouched;
  ASSERT_EQ(nrta_execute_schedule(model, inputs.get(), outputs.get(), 0, &ret, &sequence),
            NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(ret, NRT_TIMEOUT);
  EXPECT_LT(executions().arrivals(), 5u);
  expect_out_of_service();
}

TEST_F(TimedOut, IsASynchronousCall) {
  executions().hang_nth(1);
  EXPECT_EQ(execute(), NRT_TIMEOUT);
  expect_out_of_service();
}

TEST_F(TimedOut, IsATransferWhichTouchesItsBufferNoMore) {
  transfers().hang_nth(1);
  auto ret = std::make_unique<NRT_STATUS>(kUntouched);
  auto buffer = std::make_unique<std::array<std::byte, kTinyInputBytes>>();
  nrta_seq_t sequence = 0;
  ASSERT_EQ(nrta_tensor_read(buffer->data(), input_.get(), 0, kTinyInputBytes, 0, 0, ret.get(),
                             &sequence),
            NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(*ret, NRT_TIMEOUT);
  buffer->fill(std::byte{7});
  const std::array<std::byte, kTinyInputBytes> before = *buffer;
  // Its thread continues, and ends.
  transfers().end_hangs();
  nrt_close();
  await_library_threads(kLanes);
  EXPECT_EQ(*buffer, before);
}

// Faults that the environment injects into a program that does not open the faulty device itself.
class Injected : public testing::Test {
 protected:
  static NRT_STATUS status_of_first_execution(ScopedEnvironment::Variables variables) {
    variables.emplace_back("NEURON_RT_LOG_LEVEL", "QUIET");
    const ScopedEnvironment environment(std::move(variables));
    EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
    const std::vector<std::byte> bytes = tiny_archive();
    nrt_model_t* model = nullptr;
    EXPECT_EQ(nrt_load(bytes.data(), bytes.size(), 0, 1, &model), NRT_SUCCESS);
    const ScopedTensor input(kTinyInputBytes), output(kTinyOutputBytes);
    const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
    const NRT_STATUS first = nrt_execute(model, inputs.get(), outputs.get());
    second_ = nrt_execute(model, inputs.get(), outputs.get());
    nrt_close();
    return first;
  }
  inline static NRT_STATUS second_ = NRT_SUCCESS;
};

TEST_F(Injected, FaultsNeedNoOtherDevice) {
  EXPECT_EQ(status_of_first_execution({{"MILLRACE_FAULTS", "fail=1"}}), NRT_HW_ERROR);
  EXPECT_EQ(second_, NRT_EXEC_UNIT_UNRECOVERABLE);
}

// A request that hung keeps its device alive after nrt_close.
TEST_F(Injected, FaultsAreThoseOfEveryNewLife) {
  for (const auto& [faults, status] :
       {std::pair("hang=1", NRT_TIMEOUT), std::pair("hang=1", NRT_TIMEOUT),
        std::pair("fail=1", NRT_HW_ERROR)})
    EXPECT_EQ(
        status_of_first_execution({{"MILLRACE_FAULTS", faults}, {"NEURON_RT_EXEC_TIMEOUT", "1"}}),
        status);
  const auto device = device::open_device("faulty-cpu").value();
  device::faults_of(*device)->end_hangs();
}

TEST_F(Injected, FaultsHaveTheCodeThatIsAskedFor) {
  EXPECT_EQ(status_of_first_execution({{"MILLRACE_FAULTS", "fail=1"},
                                       {"MILLRACE_NRT_FAULT_STATUS", "NRT_EXEC_HW_ERR_HBM_UE"}}),
            NRT_EXEC_HW_ERR_HBM_UE);
  EXPECT_EQ(second_, NRT_EXEC_UNIT_UNRECOVERABLE);
}

TEST_F(Injected, FaultsOfAModelDegradeNothing) {
  EXPECT_EQ(status_of_first_execution({{"MILLRACE_FAULTS", "fail=1,status=INTERNAL"},
                                       {"MILLRACE_NRT_FAULT_STATUS", "1003"}}),
            NRT_EXEC_COMPLETED_WITH_NUM_ERR);
  EXPECT_EQ(second_, NRT_SUCCESS);
}

}  // namespace
}  // namespace millrace::test
