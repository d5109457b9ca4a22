#include "cli/evaluate/sample_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "cli/inputs/frames.h"

namespace millrace::cli {
namespace {

constexpr device::View kView = device::View::kCpu;
// For each lane, one job that runs and one that is queued, so that no lane is idle while samples
// are read.
constexpr size_t kJobsPerLane = 2;

}  // namespace

Result<std::unique_ptr<SampleRunner>> SampleRunner::create(const LoadedModel& loaded,
                                                           std::vector<graph::Boundary> inputs,
                                                           size_t output, OnValues on_values) {
  std::unique_ptr<SampleRunner> runner(new SampleRunner());
  runner->inputs_ = std::move(inputs);
  runner->output_ = output;
  runner->on_values_ = std::move(on_values);
  runner->batch_ = loaded.program->model().batch_size;
  runner->in_flight_ = kJobsPerLane * std::max<size_t>(loaded.device->lanes().count(), 1);
  const auto runs =
      static_cast<uint32_t>(std::min<size_t>(runner->in_flight_, runtime::kMaxConcurrentRuns));
  MILLRACE_ASSIGN_OR_RETURN(
      runner->session_,
      runtime::Session::create(loaded.device, loaded.program, {.max_concurrent_runs = runs}));
  return runner;
}

Status SampleRunner::add(const Sample& sample) {
  waiting_.push_back(sample);
  return waiting_.size() == batch_ ? submit() : Status();
}

Status SampleRunner::finish() {
  if (!waiting_.empty()) MILLRACE_RETURN_IF_ERROR(submit());
  while (!running_.empty()) MILLRACE_RETURN_IF_ERROR(collect());
  return {};
}

// Returns a job with buffers for `frames` frames. Buffers of whole batches are used again; the last
// batch may have fewer frames and then gets buffers of its own.
Result<SampleRunner::Job> SampleRunner::new_job(uint32_t frames) {
  if (frames == batch_ && !idle_.empty()) {
    Job job = std::move(idle_.back());
    idle_.pop_back();
    return job;
  }
  MILLRACE_ASSIGN_OR_RETURN(JobBuffers buffers,
                            JobBuffers::allocate(session_->model(), inputs_, frames, kView, kView));
  return Job{std::move(buffers), {}, 0};
}

Status SampleRunner::submit() {
  if (running_.size() == in_flight_) MILLRACE_RETURN_IF_ERROR(collect());
  MILLRACE_ASSIGN_OR_RETURN(Job job, new_job(static_cast<uint32_t>(waiting_.size())));
  job.names.clear();
  for (size_t frame = 0; frame < waiting_.size(); ++frame) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const std::vector<std::byte>& bytes = waiting_[frame].inputs[i];
      if (bytes.empty()) continue;
      std::memcpy(job.buffers.input(static_cast<uint32_t>(frame), i), bytes.data(), bytes.size());
    }
    job.names.push_back(std::move(waiting_[frame].name));
  }
  waiting_.clear();
  const auto id = session_->submit(job.buffers.bindings());
  if (!id.ok()) return id.status().with_context(job.names.front());
  job.id = *id;
  running_.push_back(std::move(job));
  return {};
}

Status SampleRunner::collect() {
  constexpr std::chrono::hours kForever{1000};
  Status status = session_->wait(running_.front().id, kForever);
  Job job = std::move(running_.front());
  running_.pop_front();
  // If an open output needs a larger buffer, execute() allocates it and runs the job again.
  if (status.code() == StatusCode::kInvalidArgument && job.buffers.has_open_tensors())
    status = job.buffers.execute(*session_);
  MILLRACE_RETURN_IF_ERROR(status.with_context(job.names.front()));
  for (size_t frame = 0; frame < job.names.size(); ++frame) {
    const auto at = static_cast<uint32_t>(frame);
    MILLRACE_ASSIGN_OR_RETURN(std::vector<float> values,
                              values_of(job.buffers.output_boundary(at, output_), kView,
                                        job.buffers.output(at, output_)));
    MILLRACE_RETURN_IF_ERROR(on_values_(job.names[frame], std::move(values)));
  }
  if (job.names.size() == batch_) idle_.push_back(std::move(job));
  return {};
}

}  // namespace millrace::cli
