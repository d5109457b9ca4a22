// nrt_load refuses an archive with the code of its contract, or gives a model that can be
// described, executed and unloaded.
#include <cstdlib>
#include <vector>

#include "nrt/nrt.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {
namespace {

constexpr size_t kMostBytes = 1 << 20;  // of a tensor

// Once per process. The device computes nothing: the target `execute` has one that does.
bool start() {
  ::setenv("MILLRACE_DEVICE", "null", 1);
  ::setenv("NEURON_RT_LOG_LEVEL", "QUIET", 1);
  expect(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS, "nrt_init");
  return true;
}

// Tensors for one side of a model, and the set of them.
class TensorSet {
 public:
  TensorSet() { expect(nrt_allocate_tensor_set(&set_) == NRT_SUCCESS, "a set"); }
  ~TensorSet() {
    nrt_destroy_tensor_set(&set_);
    for (nrt_tensor_t*& tensor : tensors_) nrt_tensor_free(&tensor);
  }
  TensorSet(const TensorSet&) = delete;
  TensorSet& operator=(const TensorSet&) = delete;

  void add(const nrt_tensor_info_t& info) {
    nrt_tensor_t*& tensor = tensors_.emplace_back();
    expect(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, info.size, info.name, &tensor) ==
               NRT_SUCCESS,
           "a tensor");
    expect(nrt_add_tensor_to_tensor_set(set_, info.name, tensor) == NRT_SUCCESS, "in the set");
  }
  nrt_tensor_set_t* get() const { return set_; }

 private:
  nrt_tensor_set_t* set_ = nullptr;
  std::vector<nrt_tensor_t*> tensors_;
};

void execute(nrt_model_t* model, const nrt_tensor_info_array_t& tensors) {
  TensorSet inputs, outputs;
  for (uint64_t i = 0; i < tensors.tensor_count; ++i) {
    const nrt_tensor_info_t& info = tensors.tensor_array[i];
    if (info.size > kMostBytes) return;
    (info.usage == NRT_TENSOR_USAGE_INPUT ? inputs : outputs).add(info);
  }
  const NRT_STATUS status = nrt_execute(model, inputs.get(), outputs.get());
  // Names that the description had to cut are not found.
  expect(status == NRT_SUCCESS || status == NRT_INVALID, "an execution",
         nrt_get_status_as_str(status));
}

}  // namespace

void fuzz_one(Input input) {
  [[maybe_unused]] static const bool started = start();
  nrt_model_t* model = nullptr;
  const NRT_STATUS loaded = nrt_load(input.data(), input.size(), -1, -1, &model);
  if (loaded != NRT_SUCCESS) {
    expect(loaded == NRT_INVALID || loaded == NRT_UNSUPPORTED_NEFF_VERSION, "a refusal",
           nrt_get_status_as_str(loaded));
    return expect(model == nullptr, "no model");
  }
  nrt_tensor_info_array_t* tensors = nullptr;
  expect(nrt_get_model_tensor_info(model, &tensors) == NRT_SUCCESS, "a description");
  execute(model, *tensors);
  nrt_free_model_tensor_info(tensors);
  expect(nrt_unload(model) == NRT_SUCCESS, "unloaded");
}

}  // namespace millrace::fuzz
