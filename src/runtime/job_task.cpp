#include "runtime/job_task.h"

#include <new>
#include <span>
#include <utility>

namespace millrace::runtime {

JobTask::JobTask(size_t tensors, Listener* listener, JobSync sync, std::shared_ptr<Profile> profile)
    : listener_(listener), sync_(std::move(sync)), profile_(std::move(profile)) {
  tensors_.reserve(tensors);
}

void JobTask::fill(std::shared_ptr<Executor> executor, const JobBindings& bindings,
                   Job* job) noexcept {
  executor_ = std::move(executor);
  job_ = job;
  times_ = bindings.times;
  frames_ = 0;
  inputs_ = bindings.inputs.size();
  try {
    tensors_.reserve(inputs_ + bindings.outputs.size());
  } catch (const std::bad_alloc&) {
    return;
  }
  tensors_.assign(bindings.inputs.begin(), bindings.inputs.end());
  tensors_.insert(tensors_.end(), bindings.outputs.begin(), bindings.outputs.end());
  frames_ = bindings.frames;
}

Status JobTask::run(queue::RunControl& control) noexcept {
  if (times_ != nullptr) [[unlikely]]
    times_->mark_start();
  if (frames_ == 0) return {StatusCode::kOutOfMemory, "no memory for the tensors of the job"};
  if (profile_ == nullptr) [[likely]]
    return run_synced(control);
  const Profile::Run profiled(*profile_, control);
  return run_synced(control);
}

Status JobTask::run_synced(queue::RunControl& control) noexcept {
  if (!JobSync::concerns(tensors_)) return run_frames(control);
  const std::span<TensorBinding> tensors(tensors_);
  const std::span<TensorBinding> outputs = tensors.subspan(inputs_);
  MILLRACE_RETURN_IF_ERROR(sync_.begin(executor_->model(), tensors.first(inputs_), outputs));
  MILLRACE_RETURN_IF_ERROR(run_frames(control));
  return sync_.end(executor_->model(), outputs);
}

Status JobTask::run_frames(queue::RunControl& control) noexcept {
  const std::span<const TensorBinding> tensors(tensors_);
  const size_t inputs = executor_->input_count();
  const size_t outputs = executor_->output_count();
  for (uint32_t frame = 0; frame < frames_; ++frame) {
    if (control.stop_requested()) return control.stop_status();
    control.begin_frame(frame);
    MILLRACE_RETURN_IF_ERROR(
        executor_->run_frame(tensors.subspan(frame * inputs, inputs),
                             tensors.subspan(inputs_ + frame * outputs, outputs), control));
  }
  return {};
}

// The first that is known of the end of the job: its callback may have to wait.
void JobTask::write_status(const queue::Completion&) noexcept {
  if (times_ != nullptr) [[unlikely]]
    times_->mark_end();
}

void JobTask::on_published(const queue::Completion& completion) noexcept {
  if (job_ != nullptr) listener_->on_job_completed(job_, completion);
}

void JobTask::release() noexcept {
  tensors_.clear();
  times_.reset();
  executor_.reset();
}

std::string JobTask::describe(const queue::RunPosition& position) const {
  return executor_->describe(position);
}

}  // namespace millrace::runtime
