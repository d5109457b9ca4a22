// Model: a program that is loaded for a logical core, with the description of its inputs and
// outputs. Immutable except for discard_tensor(), and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "memory/bank.h"
#include "nrt/counters/process_counters.h"
#include "nrt/nrt.h"
#include "nrt/objects/handles.h"
#include "nrt/objects/tensor_set.h"
#include "runtime/jobs/executor.h"

namespace millrace::nrt {

// The tensor that a set must have for an input or output: it holds the frames of the batch, one
// after another.
struct ModelTensor {
  std::string name;
  nrt_tensor_usage_t usage = NRT_TENSOR_USAGE_INPUT;
  nrt_dtype_t type = NRT_DTYPE_UNKNOWN;
  std::vector<uint32_t> shape;  // of the batch
  size_t bytes = 0;             // of the batch
  size_t frame_bytes = 0;
};

// The charge for the weights of a model to the memory of a core. All models of one program on a
// core share it.
struct ModelCharge {
  memory::BankCharge charge;
  CountedBytes counted;
};
using ModelMemory = std::shared_ptr<const ModelCharge>;

class Model : public std::enable_shared_from_this<Model> {
 public:
  // `communicator`, which may be null, connects the model's collectives to the other ranks.
  Model(uint32_t core, std::shared_ptr<runtime::Executor> executor, ModelMemory memory,
        std::shared_ptr<ranks::Communicator> communicator = nullptr);

  uint32_t core() const noexcept { return core_; }
  const std::string& name() const noexcept { return executor_->model().name; }
  uint32_t frames() const noexcept { return executor_->model().batch_size; }
  const std::vector<ModelTensor>& inputs() const noexcept { return inputs_; }
  const std::vector<ModelTensor>& outputs() const noexcept { return outputs_; }
  const std::shared_ptr<runtime::Executor>& executor() const noexcept { return executor_; }
  // Returns null unless the model was loaded for one of several ranks.
  const ranks::Communicator* communicator() const noexcept { return communicator_.get(); }

  // Returns the tensor that receives an output which is missing from the output set of an
  // execution. It is allocated, and the fact logged, at the first use. Its contents are never read.
  // kOutOfMemory.
  Result<std::shared_ptr<Tensor>> discard_tensor(size_t output);

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Tensor>> discard_tensors_;  // by output; null until the first use

  const uint32_t core_;
  const ModelMemory memory_;
  const std::shared_ptr<runtime::Executor> executor_;
  const std::shared_ptr<ranks::Communicator> communicator_;
  std::vector<ModelTensor> inputs_, outputs_;
};

}  // namespace millrace::nrt

struct nrt_model : millrace::nrt::Handle<millrace::nrt::Model> {};

namespace millrace::nrt {
using ModelHandles = Handles<nrt_model>;
}  // namespace millrace::nrt
