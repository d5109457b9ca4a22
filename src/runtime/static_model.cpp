#include "runtime/static_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/tensor_shape.h"

namespace millrace::runtime {
namespace {

std::string describe(const graph::Boundary& tensor) {
  return fmt::format(
      "\"{}\" has the shape {}", tensor.cpu.name,
      tensor.cpu.shape.empty() ? "of any rank" : tensor::to_string(tensor.cpu.shape));
}

Status refusal(const graph::CompiledModel& model) {
  const auto input = std::ranges::find_if(model.inputs, &graph::Boundary::open);
  if (input != model.inputs.end())
    return unsupported(
        fmt::format("input {}, and this API takes static shapes only: compile the model with "
                    "--input-shape {}=..., or use the native API",
                    describe(*input), input->cpu.name));
  return unsupported(
      "shapes of this model follow from the elements of its tensors, and this API takes static "
      "shapes only: use the native API");
}

}  // namespace

Result<std::shared_ptr<const graph::CompiledModel>> static_model(
    std::shared_ptr<const graph::CompiledModel> model) {
  if (model->network == nullptr) return model;
  return refusal(*model).with_context(fmt::format("model \"{}\"", model->name));
}

}  // namespace millrace::runtime
