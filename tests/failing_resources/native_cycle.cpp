#include <sys/eventfd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "millrace/millrace.hpp"
#include "tests/failing_resources/cycle_faults.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {
namespace {

constexpr size_t kJobs = 3;
constexpr std::chrono::seconds kPatience{10};

// Declared before the device, so that callbacks of late jobs find it.
struct Callbacks {
  std::atomic<int> counts[kJobs] = {};
  // Counts of the jobs that do not succeed: accepted ones, and their callbacks.
  std::atomic<int> accepted{0}, called{0};
  bool each_came_once() const {
    for (const std::atomic<int>& count : counts)
      if (count.load() != 1) return false;
    return true;
  }
};

struct JobBuffers {
  Buffer input, output;
  TensorArg input_arg, output_arg;

  bool allocate(const Model& model, const std::vector<float>& numbers) {
    auto in = Buffer::allocate(model.inputs()[0].cpu.bytes);
    auto out = Buffer::allocate(model.outputs()[0].cpu.bytes);
    if (!in.ok() || !out.ok()) return false;
    input = *std::move(in);
    output = *std::move(out);
    std::copy(numbers.begin(), numbers.end(), input.span<float>().begin());
    input_arg = TensorArg(input);
    output_arg = TensorArg(output);
    return true;
  }
  JobArgs args() const { return {.inputs = {&input_arg, 1}, .outputs = {&output_arg, 1}}; }
  bool holds(const std::vector<float>& expected) const {
    if (expected.empty()) return true;  // the device does not compute
    const auto numbers = output.span<float>();
    return std::equal(expected.begin(), expected.end(), numbers.begin(), numbers.end());
  }
};

// Jobs in flight with callbacks and an event fd, all waited for: by the first failure it returns
// which call it was, after the wait.
CycleResult run_jobs(Unit& unit, const Model& model, std::span<const JobBuffers> buffers,
                     Callbacks& callbacks, const std::vector<float>& expected) {
  std::vector<Job> jobs;
  jobs.reserve(kJobs);
  const UniqueFd event(eventfd(0, EFD_CLOEXEC));
  MILLRACE_CYCLE_TRY(event.get() >= 0);
  const char* refused = nullptr;
  for (size_t i = 0; i < kJobs && refused == nullptr; ++i) {
    JobArgs args = buffers[i].args();
    args.callback = [&count = callbacks.counts[i]](JobId, const Status&) { ++count; };
    auto job = unit.submit(model, std::move(args));
    if (!job.ok()) {
      refused = "submit";
      callbacks.counts[i] = 1;
    } else {
      jobs.push_back(*std::move(job));
      if (i == 1 && !jobs.back().notify_fd(event.get()).ok()) refused = "notify_fd";
    }
  }
  for (size_t i = jobs.size(); i < kJobs; ++i) callbacks.counts[i] = 1;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Status status = jobs[i].wait(kPatience);
    MILLRACE_CYCLE_EXPECT(status.code() != StatusCode::kPending);
    if (!status.ok()) refused = "a job";
    MILLRACE_CYCLE_EXPECT(!status.ok() || buffers[i].holds(expected));
  }
  return refused == nullptr ? CycleResult{} : CycleResult{Outcome::kRefused, refused};
}

CycleResult submit(Unit& unit, const Model& model, const JobBuffers& buffers, Callbacks& callbacks,
                   Deadline deadline, Job& job) {
  JobArgs args = buffers.args();
  args.deadline = deadline;
  args.callback = [&called = callbacks.called](JobId, const Status&) { ++called; };
  auto submitted = unit.submit(model, std::move(args));
  MILLRACE_CYCLE_TRY(submitted.ok());
  ++callbacks.accepted;
  job = *std::move(submitted);
  return {};
}

// The job ends, and its status is known. Refuses unless it is the one that is expected.
CycleResult expect_end(Job& job, StatusCode expected) {
  const StatusCode ended = job.wait(kPatience).code();
  MILLRACE_CYCLE_EXPECT(ended != StatusCode::kPending && ended != StatusCode::kInvalidJobId &&
                        ended != StatusCode::kOk);
  MILLRACE_CYCLE_TRY(ended == expected);
  return {};
}

// One job that is cancelled while it runs, one while it is queued, and one that is late.
CycleResult run_removed_jobs(Unit& unit, const Model& model, std::span<const JobBuffers> buffers,
                             Callbacks& callbacks, const CycleInput& input) {
  Job running, queued, late;
  const UniqueFd event(eventfd(0, EFD_CLOEXEC));
  const CycleFaults faults(input);
  MILLRACE_CYCLE_TRY(faults && event.get() >= 0);
  faults->hold();
  MILLRACE_CYCLE_STEP(submit(unit, model, buffers[0], callbacks, kNoDeadline, running));
  MILLRACE_CYCLE_STEP(submit(unit, model, buffers[1], callbacks, kNoDeadline, queued));
  MILLRACE_CYCLE_STEP(submit(unit, model, buffers[2], callbacks,
                             std::chrono::steady_clock::now() + std::chrono::milliseconds(1),
                             late));
  MILLRACE_CYCLE_TRY(queued.notify_fd(event.get()).ok());
  static_cast<void>(queued.cancel(kPatience));
  MILLRACE_CYCLE_STEP(expect_end(queued, StatusCode::kCancelled));
  MILLRACE_CYCLE_STEP(expect_end(late, StatusCode::kDeadlineExceeded));
  static_cast<void>(running.cancel(kPatience));
  return expect_end(running, StatusCode::kCancelled);
}

// A job that fails, which degrades the unit, and one after the reset.
CycleResult run_failing_job(Unit& unit, const Model& model, std::span<const JobBuffers> buffers,
                            Callbacks& callbacks, const CycleInput& input) {
  Job job;
  const CycleFaults faults(input);
  MILLRACE_CYCLE_TRY(faults);
  faults->fail_nth(1);
  MILLRACE_CYCLE_STEP(submit(unit, model, buffers[0], callbacks, kNoDeadline, job));
  MILLRACE_CYCLE_STEP(expect_end(job, StatusCode::kDeviceFailed));
  MILLRACE_CYCLE_EXPECT(unit.state() == UnitState::kDegraded);
  MILLRACE_CYCLE_TRY(unit.reset().ok());
  MILLRACE_CYCLE_TRY(unit.execute(model, buffers[0].args()).ok());
  return {};
}

CycleResult run_unit(Device& device, const Model& model, std::span<const JobBuffers> buffers,
                     Callbacks& callbacks, const std::vector<float>& expected,
                     const CycleInput& input) {
  auto unit = device.create_unit({.depth = kJobs});
  MILLRACE_CYCLE_TRY(unit.ok());
  MILLRACE_CYCLE_TRY(unit->execute(model, buffers[0].args()).ok());
  MILLRACE_CYCLE_EXPECT(buffers[0].holds(expected));
  MILLRACE_CYCLE_STEP(run_jobs(*unit, model, buffers, callbacks, expected));
  MILLRACE_CYCLE_STEP(run_removed_jobs(*unit, model, buffers, callbacks, input));
  return run_failing_job(*unit, model, buffers, callbacks, input);
}

CycleResult run_device(const CycleInput& input, Callbacks& callbacks) {
  auto device = Device::open(input.faulty_device(), {.lanes = 2});
  MILLRACE_CYCLE_TRY(device.ok());
  auto model = device->load(input.archive);
  MILLRACE_CYCLE_TRY(model.ok());
  const std::vector<float> numbers = tiny_numbers(model->inputs()[0].cpu.bytes / sizeof(float), 1);
  const std::vector<float> expected =
      input.computes() ? tiny_reference(numbers) : std::vector<float>();
  JobBuffers buffers[kJobs];
  for (JobBuffers& each : buffers) MILLRACE_CYCLE_TRY(each.allocate(*model, numbers));
  return run_unit(*device, *model, buffers, callbacks, expected, input);
}

}  // namespace

CycleResult run_native_cycle(const CycleInput& input) {
  Callbacks callbacks;
  const CycleResult result = run_device(input, callbacks);
  // The unit is gone, and with it everything that could call back.
  MILLRACE_CYCLE_EXPECT(callbacks.called == callbacks.accepted);
  const bool submitted = result.outcome == Outcome::kSucceeded;
  MILLRACE_CYCLE_EXPECT(!submitted || callbacks.each_came_once());
  return result;
}

}  // namespace millrace::test
