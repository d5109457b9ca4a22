#include "nrt/calls/execution.h"

#include "nrt/calls/call.h"
#include "nrt/objects/tensor_set.h"

namespace millrace::nrt {

NRT_STATUS find_execution(const char* call, nrt_model_t* model, const nrt_tensor_set_t* inputs,
                          const nrt_tensor_set_t* outputs, Execution& execution) {
  execution = {ModelHandles::find(model).get(), find_set(inputs), find_set(outputs)};
  if (execution.model == nullptr) return report(call, NRT_INVALID_HANDLE, kNoModel);
  if (execution.inputs == nullptr)
    return report(call, NRT_INVALID_HANDLE, "the input set is null or was destroyed");
  if (execution.outputs == nullptr)
    return report(call, NRT_INVALID_HANDLE, "the output set is null or was destroyed");
  return NRT_SUCCESS;
}

NRT_STATUS bind_execution(const char* call, Runtime& runtime, const Execution& execution,
                          std::shared_ptr<const Binding>& binding) {
  Result<std::shared_ptr<const Binding>> bound =
      runtime.bindings().get(*execution.model, *execution.inputs, *execution.outputs);
  if (bound.ok()) {
    binding = *std::move(bound);
    return NRT_SUCCESS;
  }
  if (bound.status().code() == StatusCode::kNotFound)
    return report(call, NRT_INVALID_HANDLE, bound.status().message());
  return report(call, bound.status());
}

}  // namespace millrace::nrt
