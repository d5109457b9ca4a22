// Outputs are bound before inputs, since an input is copied if it overlaps a bound output.
#include "nrt/requests/binding.h"

#include <fmt/format.h>

#include <functional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "graph/memory_plan.h"

namespace millrace::nrt {
namespace {

using runtime::TensorBinding;

// Checks that a tensor is large enough. A larger one is valid: programs that have a model in
// several sizes use one tensor of the largest size for all of them.
Status check_size(const ModelTensor& wanted, const Tensor& tensor) {
  const char* const side = wanted.usage == NRT_TENSOR_USAGE_INPUT ? "input" : "output";
  if (tensor.data() == nullptr || tensor.size() < wanted.bytes)
    return invalid_argument(
        fmt::format("tensor \"{}\" has {} bytes, but {} \"{}\" of the model needs {}",
                    tensor.name(), tensor.size(), side, wanted.name, wanted.bytes));
  if (tensor.size() > wanted.bytes)
    log_format(LogLevel::kInfo, "nrt",
               "tensor \"{}\" has {} bytes: {} \"{}\" of the model uses the first {}",
               tensor.name(), tensor.size(), side, wanted.name, wanted.bytes);
  return {};
}

// Returns the tensor of an input or output, with its size checked; null when the set has none.
Result<std::shared_ptr<Tensor>> find(const TensorSet& set, const ModelTensor& wanted) {
  nrt_tensor* const handle = set.find(wanted.name);
  if (handle == nullptr) return std::shared_ptr<Tensor>();
  const std::shared_ptr<Tensor>& tensor = TensorHandles::find(handle);
  if (tensor == nullptr)
    return Status(StatusCode::kNotFound,
                  fmt::format("the tensor for \"{}\" was freed", wanted.name));
  MILLRACE_RETURN_IF_ERROR(check_size(wanted, *tensor));
  return tensor;
}

void keep(Binding& binding, const Tensor& tensor) {
  binding.storages.push_back(tensor.storage());
}

// Binds all frames of one input or output, of which there are `tensors` per frame.
void bind_frames(std::vector<TensorBinding>& bindings, size_t tensor, size_t tensors,
                 uint32_t frames, const Tensor& memory, size_t frame_bytes) {
  for (uint32_t frame = 0; frame < frames; ++frame) {
    std::byte* const data = memory.data() + frame * frame_bytes;
    bindings[frame * tensors + tensor] = {
        .data = data,
        .view = device::View::kCpu,
        .owner = {},
        .access = memory.access(frame * frame_bytes, frame_bytes)};
  }
}

// The tensor of each output; null for one that is discarded.
using Targets = std::vector<std::shared_ptr<Tensor>>;

// Whether the memory of an input is that of an output, frame by frame, which the model makes by an
// update of that input in place.
bool is_updated_in_place(const Model& model, size_t input, const Tensor& source, size_t output,
                         const Tensor& target) {
  const ModelTensor &from = model.inputs()[input], &to = model.outputs()[output];
  const graph::CompiledModel& compiled = model.executor()->model();
  return source.data() == target.data() && from.bytes == to.bytes &&
         graph::is_updated_in_place(compiled.graph, compiled.inputs[input].value,
                                    compiled.outputs[output].value);
}

// True if the execution may write the memory of the input before it has read it. Compares with
// whole output tensors, even where the output is only a part of one: an unnecessary copy does no
// harm.
bool must_be_copied(const Model& model, size_t input, const Tensor& source, const Targets& targets,
                    UpdatedInputs updated) {
  const std::less<const std::byte*> before;
  const std::byte* const end = source.data() + model.inputs()[input].bytes;
  for (size_t i = 0; i < targets.size(); ++i) {
    const Tensor* const target = targets[i].get();
    if (target == nullptr || !before(source.data(), target->data() + target->size()) ||
        !before(target->data(), end))
      continue;
    if (updated == UpdatedInputs::kKept || !is_updated_in_place(model, input, source, i, *target))
      return true;
  }
  return false;
}

Status bind_outputs(Model& model, const TensorSet& set, Binding& binding, Targets& targets) {
  const std::vector<ModelTensor>& wanted = model.outputs();
  binding.outputs.resize(model.frames() * wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<Tensor> tensor, find(set, wanted[i]));
    targets.push_back(tensor);
    if (tensor == nullptr) {
      MILLRACE_ASSIGN_OR_RETURN(tensor, model.discard_tensor(i));
    } else {
      binding.written.push_back(tensor);
    }
    keep(binding, *tensor);
    bind_frames(binding.outputs, i, wanted.size(), model.frames(), *tensor, wanted[i].frame_bytes);
  }
  return {};
}

Status bind_inputs(const Model& model, const TensorSet& set, const Targets& targets,
                   UpdatedInputs updated, Binding& binding) {
  const std::vector<ModelTensor>& wanted = model.inputs();
  binding.inputs.resize(model.frames() * wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(const std::shared_ptr<Tensor> tensor, find(set, wanted[i]));
    if (tensor == nullptr)
      return invalid_argument(
          fmt::format("the input set has no tensor \"{}\", which model \"{}\" reads",
                      wanted[i].name, model.name()));
    keep(binding, *tensor);
    bind_frames(binding.inputs, i, wanted.size(), model.frames(), *tensor, wanted[i].frame_bytes);
    if (must_be_copied(model, i, *tensor, targets, updated))
      binding.shared_inputs.push_back({i, tensor->data(), wanted[i].bytes, wanted[i].frame_bytes,
                                       tensor->access(0, wanted[i].bytes)});
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const Binding>> bind(std::shared_ptr<Model> model, const TensorSet& inputs,
                                            const TensorSet& outputs, UpdatedInputs updated) {
  const auto binding = std::make_shared<Binding>();
  Targets targets;
  MILLRACE_RETURN_IF_ERROR(bind_outputs(*model, outputs, *binding, targets));
  MILLRACE_RETURN_IF_ERROR(bind_inputs(*model, inputs, targets, updated, *binding));
  MILLRACE_RETURN_IF_ERROR(
      model->executor()->check({model->frames(), binding->inputs, binding->outputs}));
  binding->model = std::move(model);
  return std::shared_ptr<const Binding>(binding);
}

}  // namespace millrace::nrt
