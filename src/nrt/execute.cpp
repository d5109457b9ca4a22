#include "nrt/execute.h"

#include "nrt/call.h"

namespace millrace::nrt {
namespace {

const std::shared_ptr<TensorSet>& find_set(const nrt_tensor_set_t* handle) noexcept {
  return TensorSetHandles::find(static_cast<const TensorSetHandle*>(handle));
}

}  // namespace

Binding& BindingScratch::of_thread() {
  thread_local Binding binding;
  return binding;
}

NRT_STATUS find_execution(const char* call, nrt_model_t* model, const nrt_tensor_set_t* inputs,
                          const nrt_tensor_set_t* outputs, Execution& execution) {
  execution = {ModelHandles::find(model), find_set(inputs), find_set(outputs)};
  if (execution.model == nullptr)
    return report(call, NRT_INVALID_HANDLE, "the model is null or was unloaded");
  if (execution.inputs == nullptr)
    return report(call, NRT_INVALID_HANDLE, "the input set is null or was destroyed");
  if (execution.outputs == nullptr)
    return report(call, NRT_INVALID_HANDLE, "the output set is null or was destroyed");
  return NRT_SUCCESS;
}

NRT_STATUS bind_execution(const char* call, const Execution& execution, Binding& binding) {
  const Status status = bind(*execution.model, *execution.inputs, *execution.outputs, binding);
  if (status.code() == StatusCode::kNotFound)
    return report(call, NRT_INVALID_HANDLE, status.message());
  return report(call, status);
}

}  // namespace millrace::nrt
