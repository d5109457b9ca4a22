#include "nrt/objects/model.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "tensor/desc.h"

namespace millrace::nrt {
namespace {

nrt_dtype_t to_nrt_type(tensor::DataType type) noexcept {
  using tensor::DataType;
  switch (type) {
    case DataType::kBoolean:  // a byte, 0 or 1
    case DataType::kUint8:
      return NRT_DTYPE_UINT8;
    case DataType::kInt8:
      return NRT_DTYPE_INT8;
    case DataType::kInt16:
      return NRT_DTYPE_INT16;
    case DataType::kUint16:
      return NRT_DTYPE_UINT16;
    case DataType::kBf16:
      return NRT_DTYPE_BFLOAT16;
    case DataType::kFp16:
      return NRT_DTYPE_FLOAT16;
    case DataType::kInt32:
      return NRT_DTYPE_INT32;
    case DataType::kUint32:
      return NRT_DTYPE_UINT32;
    case DataType::kFloat32:
      return NRT_DTYPE_FLOAT32;
    case DataType::kInt64:
      return NRT_DTYPE_INT64;
    case DataType::kUint64:
      return NRT_DTYPE_UINT64;
    case DataType::kFloat64:
    case DataType::kUnknown:
      break;
  }
  return NRT_DTYPE_UNKNOWN;
}

// Describes the batch of an input or output. If there are several frames, the batch dimension is
// the first dimension of the model's shape where that is 1, else one in front of the shape.
ModelTensor describe(const graph::Boundary& boundary, nrt_tensor_usage_t usage, uint32_t frames) {
  ModelTensor described;
  described.name = boundary.cpu.name;
  described.usage = usage;
  described.type = to_nrt_type(boundary.cpu.type);
  described.shape.assign(boundary.cpu.shape.begin(), boundary.cpu.shape.end());
  described.frame_bytes = boundary.cpu.bytes();
  described.bytes = described.frame_bytes * frames;
  if (frames == 1) return described;
  if (!described.shape.empty() && described.shape.front() == 1)
    described.shape.front() = frames;
  else
    described.shape.insert(described.shape.begin(), frames);
  return described;
}

}  // namespace

Model::Model(uint32_t core, std::shared_ptr<runtime::Executor> executor, ModelMemory memory,
             std::shared_ptr<ranks::Communicator> communicator)
    : core_(core),
      memory_(std::move(memory)),
      executor_(std::move(executor)),
      communicator_(std::move(communicator)) {
  const graph::CompiledModel& model = executor_->model();
  for (const graph::Boundary& input : model.inputs)
    inputs_.push_back(describe(input, NRT_TENSOR_USAGE_INPUT, model.batch_size));
  for (const graph::Boundary& output : model.outputs)
    outputs_.push_back(describe(output, NRT_TENSOR_USAGE_OUTPUT, model.batch_size));
  discard_tensors_.resize(outputs_.size());
}

Result<std::shared_ptr<Tensor>> Model::discard_tensor(size_t output) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Tensor>& tensor = discard_tensors_[output];
  if (tensor == nullptr) {
    const ModelTensor& wanted = outputs_[output];
    log(LogLevel::kWarning, "nrt",
        fmt::format("output \"{}\" of model \"{}\" is in no output set: its results are discarded",
                    wanted.name, name()));
    const auto host = std::make_shared<memory::Bank>("host", memory::kUnlimited);
    MILLRACE_ASSIGN_OR_RETURN(tensor, Tensor::allocate(*host, kNoCore, wanted.bytes, wanted.name));
  }
  return tensor;
}

}  // namespace millrace::nrt
