// Synchronous execution, and the two calls that remain of the vendor's former implicit asynchronous
// mode, in which nrt_execute did not wait.
#include <chrono>

#include "check/check.h"
#include "nrt/calls/call.h"
#include "nrt/calls/execution.h"
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "nrt/requests/compute_task.h"
#include "nrt/requests/watched_request.h"
#include "runtime/jobs/watched_job.h"

namespace millrace::nrt {
namespace {

// Runs one execution after all requests that the core's compute unit has accepted before, and
// waits for it. Also waits while the unit is full.
NRT_STATUS execute(const char* call, Runtime& runtime, const Execution& execution) {
  std::shared_ptr<const Binding> binding;
  if (const NRT_STATUS bound = bind_execution(call, runtime, execution, binding);
      bound != NRT_SUCCESS)
    return bound;
  const Result<RequestUnit*> unit =
      runtime.units().use({execution.model->core(), UnitKind::kCompute, 0});
  if (!unit.ok()) return report(call, unit.status());
  trace::note_core(static_cast<int>(execution.model->core()));
  bool accepted = false;
  NRT_STATUS outcome = NRT_FAILURE;
  const check::SynchronousCall waits;
  const Status status = (*unit)->queue_unit().execute([&](queue::Task& task) {
    if (runtime::jobs_are_watched()) [[unlikely]]
      watch_execution(*binding, (*unit)->number(), true);
    static_cast<ComputeTask&>(task).fill(std::move(binding), {&outcome, nullptr});
    accepted = true;
  });
  return accepted ? outcome : report(call, status);
}

// Returns the inputs for the second and later repetitions: an output tensor replaces the input of
// the same name.
TensorSet fed_back(const Execution& execution) {
  TensorSet inputs = *execution.inputs;
  for (const ModelTensor& input : execution.model->inputs())
    if (nrt_tensor* const output = execution.outputs->find(input.name))
      inputs.add(input.name, output);
  return inputs;
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_execute(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                       nrt_tensor_set_t* output_set) {
  constexpr const char* kCall = "nrt_execute";
  return with_runtime(kCall, [&](Runtime& runtime) {
    Execution execution;
    const NRT_STATUS found = find_execution(kCall, model, input_set, output_set, execution);
    return found == NRT_SUCCESS ? execute(kCall, runtime, execution) : found;
  });
}

NRT_STATUS nrt_execute_repeat(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                              nrt_tensor_set_t* output_set, int repeat_count) {
  constexpr const char* kCall = "nrt_execute_repeat";
  return with_runtime(kCall, [&](Runtime& runtime) {
    if (repeat_count < 1) return report(kCall, NRT_INVALID, "repeat_count must be at least 1");
    Execution execution;
    NRT_STATUS status = find_execution(kCall, model, input_set, output_set, execution);
    if (status != NRT_SUCCESS) return status;
    status = execute(kCall, runtime, execution);
    const TensorSet inputs = fed_back(execution);
    execution.inputs = &inputs;
    for (int round = 1; round < repeat_count && status == NRT_SUCCESS; ++round)
      status = execute(kCall, runtime, execution);
    return status;
  });
}

// Accepts a callback for the former implicit asynchronous mode and never calls it.
NRT_STATUS nrt_register_async_exec_callback(NRT_ASYNC_EXEC_STATUS_CALLBACK, void*) {
  return with_runtime("nrt_register_async_exec_callback", [](Runtime&) { return NRT_SUCCESS; });
}

NRT_STATUS nrt_async_drain_queued_execs(int32_t vnc) {
  constexpr const char* kCall = "nrt_async_drain_queued_execs";
  return with_core(kCall, vnc, [&](Runtime& runtime) {
    trace::note_core(vnc);
    RequestUnit* const unit =
        runtime.units().find(number_of({static_cast<uint32_t>(vnc), UnitKind::kCompute, 0}));
    if (unit == nullptr) return NRT_SUCCESS;
    auto& queued = unit->queue_unit();
    if (millrace::check::on()) [[unlikely]]
      millrace::check::note_unit_asked(queued.id());
    return report(kCall, queued.wait_free(queued.depth(), std::chrono::nanoseconds::max()));
  });
}

}  // extern "C"
