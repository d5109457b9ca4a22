// From handles to a binding, for synchronous and asynchronous executions alike.
#pragma once

#include <memory>

#include "nrt/binding.h"
#include "nrt/model.h"
#include "nrt/nrt.h"

namespace millrace::nrt {

// An empty binding with the capacity of earlier ones; one per thread at a time.
class BindingScratch {
 public:
  BindingScratch() : binding_(of_thread()) {}
  ~BindingScratch() { binding_.clear(); }
  BindingScratch(const BindingScratch&) = delete;
  BindingScratch& operator=(const BindingScratch&) = delete;
  Binding& get() noexcept { return binding_; }

 private:
  static Binding& of_thread();
  Binding& binding_;
};

// What the handles of an execution stand for.
struct Execution {
  std::shared_ptr<Model> model;
  std::shared_ptr<TensorSet> inputs, outputs;
};

// NRT_INVALID_HANDLE for a handle that is not live.
NRT_STATUS find_execution(const char* call, nrt_model_t* model, const nrt_tensor_set_t* inputs,
                          const nrt_tensor_set_t* outputs, Execution& execution);
// NRT_INVALID when the sets do not fit the model, NRT_INVALID_HANDLE for tensors that were freed;
// the log has the reason.
NRT_STATUS bind_execution(const char* call, const Execution& execution, Binding& binding);

}  // namespace millrace::nrt
