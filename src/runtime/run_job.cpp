#include "runtime/run_job.h"

namespace millrace::runtime {
namespace {

Status run_frames(Executor& executor, const JobBindings& bindings, queue::RunControl& control,
                  BoundaryConversions& conversions) noexcept {
  const size_t inputs = executor.input_count();
  const size_t outputs = executor.output_count();
  for (uint32_t frame = 0; frame < bindings.frames; ++frame) {
    if (control.stop_requested()) return control.stop_status();
    control.begin_frame(frame);
    MILLRACE_RETURN_IF_ERROR(executor.run_frame(bindings.inputs.subspan(frame * inputs, inputs),
                                                bindings.outputs.subspan(frame * outputs, outputs),
                                                control, conversions));
  }
  return {};
}

Status check_files(std::span<const TensorBinding> tensors) noexcept {
  for (const TensorBinding& tensor : tensors)
    if (tensor.shrinking_file != nullptr) [[unlikely]]
      MILLRACE_RETURN_IF_ERROR(tensor.shrinking_file->check_file());
  return {};
}

}  // namespace

Status run_job(Executor& executor, const JobBindings& bindings, const JobSync& sync,
               queue::RunControl& control, BoundaryConversions& conversions) noexcept {
  MILLRACE_RETURN_IF_ERROR(check_files(bindings.inputs));
  MILLRACE_RETURN_IF_ERROR(check_files(bindings.outputs));
  if (!JobSync::concerns(bindings)) [[likely]]
    return run_frames(executor, bindings, control, conversions);
  MILLRACE_RETURN_IF_ERROR(sync.begin(executor.model(), bindings));
  MILLRACE_RETURN_IF_ERROR(run_frames(executor, bindings, control, conversions));
  return sync.end(executor.model(), bindings.outputs);
}

}  // namespace millrace::runtime
