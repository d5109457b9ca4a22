// nrt_init and nrt_close, and the runtime between them.
#include <sys/wait.h>

#include <atomic>
#include <fstream>

#include "tests/nrt/event_fd.h"
#include "tests/nrt/fresh_process.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"
#include "tests/support/run_in_child.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

NRT_STATUS init() {
  return nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
}

// Expects that calls that need the runtime now return `why`.
void expect_refused(NRT_STATUS why) {
  nrt_tensor_t* tensor = nullptr;
  nrt_tensor_set_t* set = nullptr;
  nrt_model_t* model = nullptr;
  nrta_error_tracker_t* tracker = nullptr;
  nrta_seq_t sequence = 0;
  bool completed = false;
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8, "t", &tensor), why);
  EXPECT_EQ(nrt_allocate_tensor_set(&set), why);
  EXPECT_EQ(nrt_load("x", 1, 0, 1, &model), why);
  EXPECT_EQ(nrt_execute(model, set, set), why);
  EXPECT_EQ(nrt_tensor_read(tensor, &sequence, 0, 8), why);
  EXPECT_EQ(nrta_execute_schedule(model, set, set, 0, static_cast<NRT_STATUS*>(nullptr), &sequence),
            why);
  EXPECT_EQ(nrta_is_completed(1, &completed), why);
  EXPECT_EQ(nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &sequence), why);
  EXPECT_EQ(nrta_event_register_seq_id_completion(1, 0), why);
  EXPECT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 0, 0), why);
  EXPECT_EQ(nrta_error_tracker_create(0, &tracker), why);
}

TEST(BeforeInit, CallsAreUninitialized) {
  EXPECT_FRESH(expect_refused(NRT_UNINITIALIZED), "");
}

TEST(BeforeInit, CloseAndFreeingAreHarmless) {
  EXPECT_FRESH(
      {
        nrt_close();
        nrt_tensor_t* tensor = nullptr;
        nrt_tensor_free(&tensor);
        nrta_error_tracker_destroy(nullptr);
        expect_refused(NRT_UNINITIALIZED);
      },
      "");
}

TEST(Status, StringsMayBeNullAndAStatusMayBeMissing) {
  EXPECT_FRESH(
      {
        EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_PYTORCH, nullptr, nullptr), NRT_SUCCESS);
        EXPECT_STREQ(nrt_get_status_as_str(NRT_EXEC_UNIT_UNRECOVERABLE),
                     "NRT_EXEC_UNIT_UNRECOVERABLE");
        EXPECT_STREQ(nrt_get_status_as_str(static_cast<NRT_STATUS>(8)), "NRT_STATUS_UNKNOWN");
      },
      "");
}

class LifeCycle : public NrtModelTest {};

TEST_F(LifeCycle, CallsAfterCloseAreClosed) {
  nrt_close();
  expect_refused(NRT_CLOSED);
  nrt_close();
}

TEST_F(LifeCycle, ASecondInitChangesNothing) {
  write_input(some_input(3));
  ASSERT_EQ(init(), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(read_output(), tiny_reference(some_input(3)));
  nrt_close();
  EXPECT_EQ(execute(), NRT_CLOSED);
}

TEST_F(LifeCycle, HandlesAreDeadAfterClose) {
  nrta_error_tracker_t* tracker = nullptr;
  ASSERT_EQ(nrta_error_tracker_create(0, &tracker), NRT_SUCCESS);
  nrt_close();
  ASSERT_EQ(init(), NRT_SUCCESS);
  const nrta_error_t* errors = nullptr;
  size_t count = 0;
  EXPECT_EQ(execute(), NRT_INVALID_HANDLE);
  EXPECT_EQ(schedule(nullptr, nullptr), NRT_INVALID_HANDLE);
  EXPECT_EQ(schedule_write(nullptr, nullptr), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_unload(model_), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrta_error_tracker_get_list(tracker, &errors, &count), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_tensor_get_size(input_.get()), 0u);
  EXPECT_EQ(nrt_tensor_get_va(input_.get()), nullptr);
}

TEST_F(LifeCycle, SequencesStartAnewAfterCloseAndInit) {
  nrta_seq_t before = 0, after = 0;
  ASSERT_EQ(schedule_write(nullptr, &before), NRT_SUCCESS);
  nrt_close();
  ASSERT_EQ(init(), NRT_SUCCESS);
  bool completed = true;
  EXPECT_EQ(nrta_is_completed(before, &completed), NRT_INVALID);
  EXPECT_FALSE(completed);
  const ScopedTensor tensor(kTinyInputBytes);
  ASSERT_EQ(nrta_tensor_write(tensor.get(), host_.data(), 0, kTinyInputBytes, 0, 0,
                              static_cast<NRT_STATUS*>(nullptr), &after),
            NRT_SUCCESS);
  EXPECT_EQ(after, before);
  await(after);
}

TEST_F(LifeCycle, CloseAndInitReadTheEnvironmentAnew) {
  nrt_close();
  const ScopedEnvironment cores("NEURON_RT_VISIBLE_CORES", "1");
  ASSERT_EQ(init(), NRT_SUCCESS);
  uint32_t count = 0;
  EXPECT_EQ(nrt_get_visible_vnc_count(&count), NRT_SUCCESS);
  EXPECT_EQ(count, 1u);
  nrt_tensor_t* tensor = nullptr;
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 1, 8, "t", &tensor), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8, "t", &tensor), NRT_SUCCESS);
  nrt_tensor_free(&tensor);
}

TEST_F(LifeCycle, AFailedInitMayBeTriedAgain) {
  nrt_close();
  {
    const ScopedEnvironment wrong("NEURON_RT_EXEC_TIMEOUT", "soon");
    EXPECT_EQ(init(), NRT_INVALID);
    expect_refused(NRT_CLOSED);
  }
  EXPECT_EQ(init(), NRT_SUCCESS);
}

TEST_F(LifeCycle, ADevicePluginThatCannotBeLoadedIsInvalidAndNamed) {
  nrt_close();
  const TemporaryDirectory directory;
  std::ofstream(directory.file("libmillrace-broken.so")) << "no library";
  const ScopedEnvironment device(
      {{"MILLRACE_PLUGIN_DIR", directory.path().string()}, {"MILLRACE_DEVICE", "broken"}});
  const LogCapture log(LogLevel::kError);
  EXPECT_EQ(init(), NRT_INVALID);
  EXPECT_EQ(log.count("the plugin of device \"broken\" cannot be loaded"), 1u);
}

TEST_F(LifeCycle, ADeviceWithoutAPluginIsInvalidAndNamed) {
  nrt_close();
  const ScopedEnvironment device("MILLRACE_DEVICE", "nosuch");
  const LogCapture log(LogLevel::kError);
  EXPECT_EQ(init(), NRT_INVALID);
  EXPECT_EQ(log.count("libmillrace-nosuch.so"), 1u);
}

TEST_F(LifeCycle, AForkedChildIsUninitializedAndTheParentGoesOn) {
  executions().hold();
  EventFd event;
  nrta_seq_t sequence = 0;
  NRT_STATUS ret = kUntouched;
  ASSERT_EQ(schedule(&ret, &sequence), NRT_SUCCESS);
  ASSERT_EQ(nrta_event_register_seq_id_completion(sequence, event.get()), NRT_SUCCESS);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool completed = false;
    const bool right = execute() == NRT_UNINITIALIZED &&
                       nrta_is_completed(sequence, &completed) == NRT_UNINITIALIZED &&
                       schedule(&ret, &sequence) == NRT_UNINITIALIZED && init() == NRT_FAILURE;
    nrt_close();
    ::_exit(right ? 0 : 1);
  }
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  EXPECT_EQ(state, 0);
  executions().release();
  EXPECT_EQ(event.await(), 1u);
  await(sequence);  // ThreadSanitizer does not know a duplicate of an event fd for the same
  EXPECT_EQ(ret, NRT_SUCCESS);
  EXPECT_EQ(execute(), NRT_SUCCESS);
}

TEST_F(LifeCycle, AForkedChildMayFreeWhatItHas) {
  // At any moment one of these threads is changing the table of tensors; none exists in the child.
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!stop) const ScopedTensor tensor(16);
    });
  nrta_error_tracker_t* tracker = nullptr;
  ASSERT_EQ(nrta_error_tracker_create(0, &tracker), NRT_SUCCESS);
  int state = 0;
  for (int round = 0; round < 40 && state == 0; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);  // instead of a test that hangs
      nrt_tensor_free(input_.address());
      nrt_destroy_tensor_set(inputs_.address());
      nrta_error_tracker_destroy(tracker);
      ::_exit(input_.get() == nullptr && inputs_.get() == nullptr ? 0 : 1);
    }
    EXPECT_EQ(::waitpid(child, &state, 0), child);
  }
  EXPECT_EQ(state, 0);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(execute(), NRT_SUCCESS);
}

TEST_F(LifeCycle, AForkedChildMayReturnFromMain) {
  executions().hold();
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule(nullptr, &sequence), NRT_SUCCESS);
  executions().await_arrivals(1);
  EXPECT_EQ(run_in_child([] { return 7; }), 7);
  executions().release();
  await(sequence);
}

// Leaves requests that run, that wait and that hang.
void leave_work_behind() {
  const ScopedEnvironment environment("MILLRACE_FAULTS", "hang=2");
  EXPECT_EQ(init(), NRT_SUCCESS);
  const std::vector<std::byte> bytes = tiny_archive();
  nrt_model_t* model = nullptr;
  EXPECT_EQ(nrt_load(bytes.data(), bytes.size(), 0, 1, &model), NRT_SUCCESS);
  const ScopedTensor input(kTinyInputBytes), output(kTinyOutputBytes);
  const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
  EXPECT_EQ(nrt_execute(model, inputs.get(), outputs.get()), NRT_SUCCESS);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(nrta_execute_schedule(model, inputs.get(), outputs.get(), 0,
                                    static_cast<NRT_STATUS*>(nullptr), nullptr),
              NRT_SUCCESS);
}

TEST(Exit, NeedsNoClose) {
  EXPECT_FRESH(leave_work_behind(), "");
}

}  // namespace
}  // namespace millrace::test
