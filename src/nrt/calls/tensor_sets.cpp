// Tensor sets, which map the names of a model's inputs or outputs to tensors.
#include <cstring>

#include "nrt/calls/call.h"
#include "nrt/nrt.h"
#include "nrt/objects/tensor_set.h"

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_allocate_tensor_set(nrt_tensor_set_t** result) {
  constexpr const char* kCall = "nrt_allocate_tensor_set";
  return with_runtime(kCall, [&](Runtime&) {
    if (result == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    *result = TensorSetHandles::of_process().make(std::make_shared<TensorSet>());
    return NRT_SUCCESS;
  });
}

void nrt_destroy_tensor_set(nrt_tensor_set_t** tensor_set) {
  if (tensor_set == nullptr) return;
  with_runtime("nrt_destroy_tensor_set", [&](Runtime&) {
    TensorSetHandles::of_process().drop(static_cast<TensorSetHandle*>(*tensor_set));
    return NRT_SUCCESS;
  });
  *tensor_set = nullptr;
}

NRT_STATUS nrt_add_tensor_to_tensor_set(nrt_tensor_set_t* tensor_set, const char* tensor_name,
                                        nrt_tensor_t* tensor) {
  constexpr const char* kCall = "nrt_add_tensor_to_tensor_set";
  return with_runtime(kCall, [&](Runtime&) {
    TensorSet* const set = find_set(tensor_set);
    if (set == nullptr)
      return report(kCall, NRT_INVALID_HANDLE, "the tensor set is null or was destroyed");
    if (TensorHandles::find(tensor) == nullptr) return report(kCall, NRT_INVALID_HANDLE, kNoTensor);
    if (tensor_name == nullptr || strnlen(tensor_name, NRT_TENSOR_NAME_MAX) >= NRT_TENSOR_NAME_MAX)
      return report(kCall, NRT_INVALID, "the name is null or longer than 255 characters");
    set->add(tensor_name, tensor);
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_get_tensor_from_tensor_set(nrt_tensor_set_t* tensor_set, const char* tensor_name,
                                          nrt_tensor_t** tensor) {
  constexpr const char* kCall = "nrt_get_tensor_from_tensor_set";
  return with_runtime(kCall, [&](Runtime&) {
    const TensorSet* const set = find_set(tensor_set);
    if (set == nullptr)
      return report(kCall, NRT_INVALID_HANDLE, "the tensor set is null or was destroyed");
    if (tensor_name == nullptr || tensor == nullptr)
      return report(kCall, NRT_INVALID, "an argument is null");
    nrt_tensor_t* const found = set->find(tensor_name);
    if (found == nullptr) return NRT_FAILURE;  // not logged: programs test for a name this way
    *tensor = found;
    return NRT_SUCCESS;
  });
}

}  // extern "C"
