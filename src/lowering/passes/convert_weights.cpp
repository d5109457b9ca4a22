#include <algorithm>
#include <map>

#include "lowering/passes/constants.h"
#include "lowering/passes/passes.h"
#include "tensor/half.h"

namespace millrace::lowering {
namespace {

using graph::ValueId;

constexpr size_t kWeight = 1;  // the operand of both Conv and MatMul

ValueId add_bf16_copy(graph::Graph& graph, ValueId id, std::span<const float> floats) {
  std::vector<uint16_t> halves(floats.size());
  std::ranges::transform(floats, halves.begin(), tensor::float_to_bf16);
  return graph.add_constant(graph.values[id].name, tensor::DataType::kBf16, graph.values[id].shape,
                            graph::Constant::of(halves));
}

}  // namespace

Status convert_weights(graph::Graph& graph, const PassContext& context) {
  if (context.precision != graph::Precision::kBf16) return {};
  std::map<ValueId, ValueId> converted;
  for (graph::Node& node : graph.nodes) {
    if (!std::holds_alternative<graph::Conv>(node.op) &&
        !std::holds_alternative<graph::MatMul>(node.op)) {
      continue;
    }
    if (goes_to_cpu(graph, node, context.cpu_operators)) continue;
    const ValueId weight = node.inputs[kWeight];
    const auto floats = floats_of(graph.values[weight]);
    if (!floats) continue;
    const auto [entry, added] = converted.try_emplace(weight);
    if (added) entry->second = add_bf16_copy(graph, weight, *floats);
    node.inputs[kWeight] = entry->second;
  }
  return {};
}

}  // namespace millrace::lowering
