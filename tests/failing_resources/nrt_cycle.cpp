#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "tests/failing_resources/cycle_faults.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {
namespace {

constexpr size_t kInputBytes = size_t{kTinyInputChannels} * kTinySide * kTinySide * sizeof(float);
constexpr size_t kOutputBytes = size_t{kTinyOutputChannels} * kTinySide * kTinySide * sizeof(float);
constexpr std::chrono::seconds kPatience{10};
constexpr NRT_STATUS kUntouched = NRT_COLL_PENDING;

// Objects that a cycle has made. They are freed in the order in which a program frees them.
struct Objects {
  nrt_model_t* model = nullptr;
  nrt_tensor_t *input = nullptr, *output = nullptr;
  nrt_tensor_set_t *inputs = nullptr, *outputs = nullptr;

  ~Objects() {
    nrt_destroy_tensor_set(&inputs);
    nrt_destroy_tensor_set(&outputs);
    nrt_tensor_free(&input);
    nrt_tensor_free(&output);
    if (model != nullptr) nrt_unload(model);
    nrt_close();
  }
};

bool await(nrta_seq_t sequence) {
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  for (bool completed = false; std::chrono::steady_clock::now() < limit;) {
    if (nrta_is_completed(sequence, &completed) != NRT_SUCCESS) return false;
    if (completed) return true;
    std::this_thread::yield();
  }
  return false;
}

// A write, an execution, and a read, each of which must complete.
CycleResult run_requests(const Objects& objects, const std::vector<float>& numbers,
                         const std::vector<float>& expected, bool computes) {
  std::vector<float> result(expected.size());
  NRT_STATUS written = kUntouched, executed = kUntouched, read = kUntouched;
  nrta_seq_t sequence = 0;
  MILLRACE_CYCLE_TRY(nrta_tensor_write(objects.input, numbers.data(), 0, kInputBytes, 0, 0,
                                       &written, &sequence) == NRT_SUCCESS);
  MILLRACE_CYCLE_EXPECT(await(sequence));
  MILLRACE_CYCLE_TRY(nrta_execute_schedule(objects.model, objects.inputs, objects.outputs, 0,
                                           &executed, &sequence) == NRT_SUCCESS);
  MILLRACE_CYCLE_EXPECT(await(sequence));
  MILLRACE_CYCLE_TRY(nrta_tensor_read(result.data(), objects.output, 0, kOutputBytes, 0, 0, &read,
                                      &sequence) == NRT_SUCCESS);
  MILLRACE_CYCLE_EXPECT(await(sequence));
  MILLRACE_CYCLE_EXPECT(written != kUntouched && executed != kUntouched && read != kUntouched);
  MILLRACE_CYCLE_TRY(written == NRT_SUCCESS && executed == NRT_SUCCESS && read == NRT_SUCCESS);
  MILLRACE_CYCLE_EXPECT(!computes || result == expected);
  return {};
}

// The statuses to which requests that are in flight at the end write.
struct LastStatuses {
  std::array<NRT_STATUS, 2> of = {kUntouched, kUntouched};
  size_t accepted = 0;
  bool all_written() const {
    return std::count(of.begin(), of.end(), kUntouched) == static_cast<long>(of.size() - accepted);
  }
};

// Whether the event fd becomes readable, which may be a moment after the completion.
bool rings(const UniqueFd& event) {
  pollfd polled{.fd = event.get(), .events = POLLIN, .revents = 0};
  return poll(&polled, 1, std::chrono::milliseconds(kPatience).count()) == 1;
}

// An execution that fails, with event fds for it and for its unit.
CycleResult run_failing_request(const Objects& objects, const CycleFaults& faults) {
  const UniqueFd each(eventfd(0, EFD_CLOEXEC)), one(eventfd(0, EFD_CLOEXEC));
  MILLRACE_CYCLE_TRY(each.get() >= 0 && one.get() >= 0);
  MILLRACE_CYCLE_TRY(nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 0, each.get()) ==
                     NRT_SUCCESS);
  faults->fail_nth(1, Status(StatusCode::kInternal, "the model fails"));
  NRT_STATUS executed = kUntouched;
  nrta_seq_t sequence = 0;
  MILLRACE_CYCLE_TRY(nrta_execute_schedule(objects.model, objects.inputs, objects.outputs, 0,
                                           &executed, &sequence) == NRT_SUCCESS);
  const NRT_STATUS registered = nrta_event_register_seq_id_completion(sequence, one.get());
  MILLRACE_CYCLE_EXPECT(await(sequence));
  MILLRACE_CYCLE_EXPECT(executed != kUntouched && executed != NRT_SUCCESS);
  MILLRACE_CYCLE_EXPECT(rings(each));
  MILLRACE_CYCLE_TRY(registered == NRT_SUCCESS);
  MILLRACE_CYCLE_EXPECT(rings(one));
  MILLRACE_CYCLE_TRY(executed == NRT_EXEC_COMPLETED_WITH_ERR);
  return {};
}

// Executions that nrt_close finds running and queued.
CycleResult leave_requests(const Objects& objects, const CycleFaults& faults, LastStatuses& last) {
  faults->slow(std::chrono::milliseconds(1));
  nrta_seq_t sequence = 0;
  for (NRT_STATUS& status : last.of) {
    MILLRACE_CYCLE_TRY(nrta_execute_schedule(objects.model, objects.inputs, objects.outputs, 0,
                                             &status, &sequence) == NRT_SUCCESS);
    ++last.accepted;
  }
  return {};
}

CycleResult run_runtime(const std::vector<char>& bytes, const CycleInput& input,
                        LastStatuses& last) {
  MILLRACE_CYCLE_TRY(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS);
  Objects made;
  MILLRACE_CYCLE_TRY(nrt_load(bytes.data(), bytes.size(), 0, 1, &made.model) == NRT_SUCCESS);
  MILLRACE_CYCLE_TRY(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, kInputBytes, "in",
                                         &made.input) == NRT_SUCCESS);
  MILLRACE_CYCLE_TRY(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, kOutputBytes, "out",
                                         &made.output) == NRT_SUCCESS);
  MILLRACE_CYCLE_TRY(nrt_allocate_tensor_set(&made.inputs) == NRT_SUCCESS);
  MILLRACE_CYCLE_TRY(nrt_allocate_tensor_set(&made.outputs) == NRT_SUCCESS);
  MILLRACE_CYCLE_TRY(nrt_add_tensor_to_tensor_set(made.inputs, kTinyInput, made.input) ==
                     NRT_SUCCESS);
  MILLRACE_CYCLE_TRY(nrt_add_tensor_to_tensor_set(made.outputs, kTinyOutput, made.output) ==
                     NRT_SUCCESS);
  const std::vector<float> numbers = tiny_numbers(kInputBytes / sizeof(float), 1);
  const std::vector<float> expected = tiny_reference(numbers);
  MILLRACE_CYCLE_TRY(nrt_tensor_write(made.input, numbers.data(), 0, kInputBytes) == NRT_SUCCESS);
  MILLRACE_CYCLE_TRY(nrt_execute(made.model, made.inputs, made.outputs) == NRT_SUCCESS);
  MILLRACE_CYCLE_STEP(run_requests(made, numbers, expected, input.computes()));
  const CycleFaults faults(input);
  MILLRACE_CYCLE_TRY(faults);
  MILLRACE_CYCLE_STEP(run_failing_request(made, faults));
  return leave_requests(made, faults, last);
}

}  // namespace

CycleResult run_nrt_cycle(const CycleInput& input) {
  std::ifstream file(input.archive, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  LastStatuses last;
  const CycleResult result = run_runtime(bytes, input, last);
  MILLRACE_CYCLE_EXPECT(last.all_written());
  return result;
}

}  // namespace millrace::test
