#include "lowering/shape_profile.h"

#include <fmt/format.h>

#include <utility>

#include "lowering/finish.h"
#include "lowering/stage.h"

namespace millrace::lowering {
namespace {

network::Input static_input(network::Input input, tensor::DataType type,
                            const std::vector<uint32_t>& shape) {
  input.type = type;
  input.has_shape = true;
  input.shape.clear();
  for (const uint32_t dim : shape) input.shape.push_back({dim, ""});
  return input;
}

Result<graph::CompiledModel> lower(const graph::CompiledModel& model,
                                   const graph::Capabilities& capabilities,
                                   const graph::ShapeProfile& profile) {
  network::Network network = *model.network;
  for (size_t i = 0; i < network.inputs.size(); ++i) {
    network.inputs[i] =
        static_input(std::move(network.inputs[i]), model.inputs[i].cpu.type, profile.shapes[i]);
  }
  MILLRACE_ASSIGN_OR_RETURN(Stage stage,
                            lower_whole(network, capabilities, /*may_leave_rest=*/false));
  LoweringOptions options;
  options.capabilities = capabilities;
  options.batch_size = model.batch_size;
  options.precision = model.precision;
  options.hw_quantisation = model.hw_quantisation;
  options.cpu_operators.insert(model.cpu_operators.begin(), model.cpu_operators.end());
  options.is_stage = true;  // a name may match no node of the model with these shapes
  return finish(std::move(stage.graph), options, model.name);
}

}  // namespace

Result<graph::CompiledModel> lower_profile(const graph::CompiledModel& model,
                                           const graph::Capabilities& capabilities,
                                           const graph::ShapeProfile& profile) {
  Result<graph::CompiledModel> lowered = lower(model, capabilities, profile);
  if (lowered.ok()) return lowered;
  return lowered.status().with_context(fmt::format("profile '{}'", profile.name));
}

}  // namespace millrace::lowering
