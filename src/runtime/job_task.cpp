#include "runtime/job_task.h"

#include <span>

namespace millrace::runtime {

JobTask::JobTask(Executor& executor, Listener& listener,
                 std::shared_ptr<const queue::Completion> last)
    : executor_(executor), listener_(listener), last_(std::move(last)) {
  const graph::CompiledModel& model = executor.model();
  inputs_.reserve(model.inputs.size() * model.batch_size);
  outputs_.reserve(model.outputs.size() * model.batch_size);
}

void JobTask::fill(const JobBindings& bindings, Job* job) noexcept {
  job_ = job;
  frames_ = bindings.frames;
  inputs_.assign(bindings.inputs.begin(), bindings.inputs.end());
  outputs_.assign(bindings.outputs.begin(), bindings.outputs.end());
}

Status JobTask::run(queue::LaneId lane) noexcept {
  const std::span<const TensorBinding> inputs(inputs_), outputs(outputs_);
  const size_t input_count = inputs.size() / frames_;
  const size_t output_count = outputs.size() / frames_;
  for (uint32_t frame = 0; frame < frames_; ++frame) {
    MILLRACE_RETURN_IF_ERROR(
        executor_.run_frame(lane, inputs.subspan(frame * input_count, input_count),
                            outputs.subspan(frame * output_count, output_count)));
  }
  return {};
}

void JobTask::release() noexcept {
  inputs_.clear();
  outputs_.clear();
  listener_.on_job_complete(std::exchange(job_, nullptr), *last_);
}

}  // namespace millrace::runtime
