// Finds the binding for the handles of an execution, for synchronous and asynchronous executions.
#pragma once

#include <memory>

#include "nrt/nrt.h"
#include "nrt/objects/model.h"
#include "nrt/process/runtime.h"
#include "nrt/requests/binding.h"

namespace millrace::nrt {

// The objects of an execution's handles; valid as long as the program does not end the handles.
struct Execution {
  Model* model = nullptr;
  const TensorSet* inputs = nullptr;
  const TensorSet* outputs = nullptr;
};

// NRT_INVALID_HANDLE for a handle that is not live.
NRT_STATUS find_execution(const char* call, nrt_model_t* model, const nrt_tensor_set_t* inputs,
                          const nrt_tensor_set_t* outputs, Execution& execution);
// NRT_INVALID when the sets do not fit the model, NRT_INVALID_HANDLE for tensors that were freed;
// the reason is logged.
NRT_STATUS bind_execution(const char* call, Runtime& runtime, const Execution& execution,
                          std::shared_ptr<const Binding>& binding);

}  // namespace millrace::nrt
