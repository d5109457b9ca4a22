// A job whose tensors need neither a device copy (JobSync) nor an announced access (HostAccess)
// only runs its frames; otherwise these steps surround the frames.
#include "runtime/jobs/run_job.h"

#include <algorithm>
#include <optional>

#include "base/hooks.h"
#include "runtime/jobs/phase_events.h"

namespace millrace::runtime {
namespace {

Status run_frames(Executor& executor, const JobBindings& bindings, queue::RunControl& control,
                  BoundaryConversions& conversions) noexcept {
  const size_t inputs = executor.input_count();
  const size_t outputs = executor.output_count();
  for (uint32_t frame = 0; frame < bindings.frames; ++frame) {
    if (control.stop_requested()) return control.stop_status();
    control.begin_frame(frame);
    const auto of_frame = [frame](auto tensors, size_t count) {
      return tensors.subspan(frame * count, count);
    };
    OpenTensors open;
    if (executor.has_open_tensors()) [[unlikely]]
      open = {of_frame(bindings.open_inputs, inputs), of_frame(bindings.open_outputs, outputs)};
    MILLRACE_RETURN_IF_ERROR(
        executor.run_frame(of_frame(bindings.inputs, inputs), of_frame(bindings.outputs, outputs),
                           executor.has_open_tensors() ? &open : nullptr, control, conversions));
  }
  return {};
}

using Boundaries = std::vector<graph::Boundary>;

// Ends the access to all tensors; the status is that of the first failure, and names its tensor.
Status end_access(std::span<const TensorBinding> tensors, const Boundaries& boundaries,
                  memory::Access access) noexcept {
  Status first_failure;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].access) [[likely]]
      continue;
    const Status ended = tensors[i].access.end(access);
    if (first_failure.ok())
      first_failure = ended.with_context(boundaries[i % boundaries.size()].cpu.name);
  }
  return first_failure;
}

// Begins the access to all tensors. If one fails, ends the others again; the status names it.
Status begin_access(std::span<const TensorBinding> tensors, const Boundaries& boundaries,
                    memory::Access access) noexcept {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].access) [[likely]]
      continue;
    const Status begun = tensors[i].access.begin(access);
    if (begun.ok()) continue;
    static_cast<void>(end_access(tensors.first(i), boundaries, access));
    return begun.with_context(boundaries[i % boundaries.size()].cpu.name);
  }
  return {};
}

// Calls work() between the beginning and the end of the processor's access to the tensors.
template <class Work>
Status with_access(std::span<const TensorBinding> tensors, const Boundaries& boundaries,
                   memory::Access access, Work&& work) noexcept {
  MILLRACE_RETURN_IF_ERROR(begin_access(tensors, boundaries, access));
  Status status = work();
  const Status ended = end_access(tensors, boundaries, access);
  return status.ok() ? ended : status;
}

// Returns whether the tensors need nothing before or after the frames.
bool is_plain(std::span<const TensorBinding> tensors) noexcept {
  return std::ranges::none_of(tensors, [](const TensorBinding& tensor) {
    return tensor.access || tensor.device_side != nullptr;
  });
}

Status run_synced(Executor& executor, const JobBindings& bindings, const JobSync& sync,
                  queue::RunControl& control, BoundaryConversions& conversions) noexcept {
  if (!JobSync::concerns(bindings)) return run_frames(executor, bindings, control, conversions);
  MILLRACE_RETURN_IF_ERROR(sync.begin(executor.model(), bindings));
  MILLRACE_RETURN_IF_ERROR(run_frames(executor, bindings, control, conversions));
  return sync.end(executor.model(), bindings.outputs);
}

Status run_with_access(Executor& executor, const JobBindings& bindings, const JobSync& sync,
                       queue::RunControl& control, BoundaryConversions& conversions) noexcept {
  const graph::CompiledModel& model = executor.model();
  return with_access(bindings.inputs, model.inputs, memory::Access::kRead, [&] {
    return with_access(bindings.outputs, model.outputs, memory::Access::kWrite,
                       [&] { return run_synced(executor, bindings, sync, control, conversions); });
  });
}

}  // namespace

Status run_job(Executor& executor, const JobBindings& bindings, const JobSync& sync,
               queue::RunControl& control, BoundaryConversions& conversions) noexcept {
  executor.begin_job(control.sequence());
  std::optional<PhaseEvents> phases;
  if (hooks_observe(control.sequence())) [[unlikely]]
    if (const auto steps = executor.step_names(); !steps.empty()) phases.emplace(steps, control);
  const bool plain = is_plain(bindings.inputs) && is_plain(bindings.outputs);
  Status status = plain ? run_frames(executor, bindings, control, conversions)
                        : run_with_access(executor, bindings, sync, control, conversions);
  if (!status.ok()) [[unlikely]]
    executor.skip_job(control.sequence());
  return status;
}

}  // namespace millrace::runtime
