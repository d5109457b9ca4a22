#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <vector>

#include "tests/failing_resources/cycle_faults.h"
#include "tests/support/tiny_model.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::test {
namespace {

using ::vart::JobHandle;
using ::vart::NpuTensor;
using ::vart::NpuTensorInfo;
using ::vart::Runner;
using ::vart::RunnerFactory;
using ::vart::RunnerType;
using ::vart::StatusCode;
using ::vart::TensorDirection;
using ::vart::TensorType;

using Tensors = std::vector<std::vector<NpuTensor>>;

constexpr size_t kJobs = 3;
constexpr std::chrono::milliseconds kPatience{10'000};

Tensors allocate(const Runner& runner, TensorDirection direction) {
  Tensors tensors(1);
  for (const NpuTensorInfo& info : runner.get_tensors_info(direction, TensorType::CPU))
    tensors[0].push_back(runner.allocate_npu_tensor(info));
  return tensors;
}

struct Frame {
  Tensors inputs, outputs;
  Frame(const Runner& runner, const std::vector<float>& numbers)
      : inputs(allocate(runner, TensorDirection::INPUT)),
        outputs(allocate(runner, TensorDirection::OUTPUT)) {
    std::memcpy(inputs[0][0].get_virtual_address(), numbers.data(), numbers.size() * sizeof(float));
  }
  bool holds(const std::vector<float>& expected) {
    return std::memcmp(outputs[0][0].get_virtual_address(), expected.data(),
                       expected.size() * sizeof(float)) == 0;
  }
};

CycleResult run_jobs(Runner& runner, std::vector<Frame>& frames, std::atomic<int>& callbacks,
                     int& accepted, const std::vector<float>& expected) {
  std::vector<JobHandle> jobs;
  jobs.reserve(frames.size());
  const char* refused = nullptr;
  for (Frame& frame : frames) {
    const JobHandle job =
        runner.execute_async(frame.inputs, frame.outputs, [&](const JobHandle&) { ++callbacks; });
    if (job.status == StatusCode::SUCCESS)
      ++accepted;
    else
      refused = "execute_async";
    jobs.push_back(job);
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].status != StatusCode::SUCCESS) continue;
    const StatusCode status = runner.wait(jobs[i], kPatience);
    MILLRACE_CYCLE_EXPECT(status != StatusCode::JOB_PENDING);
    if (status != StatusCode::SUCCESS) refused = "wait";
    MILLRACE_CYCLE_EXPECT(status != StatusCode::SUCCESS || frames[i].holds(expected));
  }
  return refused == nullptr ? CycleResult{} : CycleResult{Outcome::kRefused, refused};
}

// A job that fails, and several that the end of the runner finds unfinished.
CycleResult run_failing_jobs(Runner& runner, std::vector<Frame>& frames, const CycleFaults& faults,
                             std::atomic<int>& callbacks, int& accepted) {
  faults->fail_nth(1);
  const auto submit = [&](Frame& frame) {
    const JobHandle job =
        runner.execute_async(frame.inputs, frame.outputs, [&](const JobHandle&) { ++callbacks; });
    if (job.status == StatusCode::SUCCESS) ++accepted;
    return job;
  };
  const JobHandle failing = submit(frames[0]);
  MILLRACE_CYCLE_TRY(failing.status == StatusCode::SUCCESS);
  const StatusCode status = runner.wait(failing, kPatience);
  MILLRACE_CYCLE_EXPECT(status != StatusCode::JOB_PENDING && status != StatusCode::SUCCESS &&
                        status != StatusCode::INVALID_JOB_ID);
  faults->slow(std::chrono::milliseconds(1));
  for (Frame& frame : frames) MILLRACE_CYCLE_TRY(submit(frame).status == StatusCode::SUCCESS);
  return {};
}

CycleResult run_runner(const CycleInput& input, std::atomic<int>& callbacks, int& accepted) {
  std::vector<Frame> frames;  // outlive the runner, whose jobs use them
  const std::shared_ptr<Runner> runner =
      RunnerFactory::create_runner(RunnerType::VAIML, input.archive,
                                   {{"input_tensor_type", std::string("CPU")},
                                    {"output_tensor_type", std::string("CPU")},
                                    {"max_concurrent_runs", static_cast<uint32_t>(kJobs)}});
  const std::vector<float> numbers =
      tiny_numbers(size_t{kTinyInputChannels} * kTinySide * kTinySide, 1);
  const std::vector<float> expected =
      input.computes() ? tiny_reference(numbers) : std::vector<float>();
  for (size_t i = 0; i < kJobs; ++i) frames.emplace_back(*runner, numbers);
  MILLRACE_CYCLE_TRY(runner->execute(frames[0].inputs, frames[0].outputs) == StatusCode::SUCCESS);
  MILLRACE_CYCLE_EXPECT(frames[0].holds(expected));
  MILLRACE_CYCLE_STEP(run_jobs(*runner, frames, callbacks, accepted, expected));
  const CycleFaults faults(input);
  MILLRACE_CYCLE_TRY(faults);
  return run_failing_jobs(*runner, frames, faults, callbacks, accepted);
}

}  // namespace

CycleResult run_vart_cycle(const CycleInput& input) {
  std::atomic<int> callbacks{0};
  int accepted = 0;
  CycleResult result;
  try {
    result = run_runner(input, callbacks, accepted);
  } catch (const std::exception&) {
    result = {Outcome::kRefused, "an exception of the face"};
  }
  MILLRACE_CYCLE_EXPECT(callbacks == accepted);
  return result;
}

}  // namespace millrace::test
