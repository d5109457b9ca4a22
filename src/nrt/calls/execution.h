// The common part of synchronous and asynchronous executions: resolving the handles of a call, and
// binding the tensors of its sets to the inputs and outputs of the model.
#pragma once

#include <memory>

#include "nrt/nrt.h"
#include "nrt/objects/model.h"
#include "nrt/process/runtime.h"
#include "nrt/requests/binding.h"

namespace millrace::nrt {

// The objects that the handles of a call refer to. The pointers are borrowed: they are valid until
// the program unloads the model or destroys a set.
struct Execution {
  Model* model = nullptr;
  const TensorSet* inputs = nullptr;
  const TensorSet* outputs = nullptr;
};

// Resolves the handles. Logs the reason and returns NRT_INVALID_HANDLE for a handle that is null or
// was freed.
NRT_STATUS find_execution(const char* call, nrt_model_t* model, const nrt_tensor_set_t* inputs,
                          const nrt_tensor_set_t* outputs, Execution& execution);
// Sets `binding`, from the cache of the runtime if possible. Returns NRT_INVALID when the sets do
// not match the model, NRT_INVALID_HANDLE for tensors that were freed; the reason is logged.
NRT_STATUS bind_execution(const char* call, Runtime& runtime, const Execution& execution,
                          std::shared_ptr<const Binding>& binding);

}  // namespace millrace::nrt
