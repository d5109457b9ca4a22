#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "lowering/passes/constants.h"
#include "lowering/passes/passes.h"
#include "tensor/half.h"

namespace millrace::lowering {
namespace {

using graph::ValueId;
using tensor::DataType;

constexpr size_t kWeight = 1;  // the operand of both Conv and MatMul

// Returns the elements in FP16; nothing if a finite one is beyond its range.
std::optional<std::vector<uint16_t>> to_fp16(std::span<const float> floats) {
  std::vector<uint16_t> halves(floats.size());
  std::ranges::transform(floats, halves.begin(), tensor::float_to_fp16);
  constexpr uint16_t kMagnitude = 0x7fff, kInfinity = 0x7c00;
  for (size_t i = 0; i < halves.size(); ++i)
    if ((halves[i] & kMagnitude) == kInfinity && std::isfinite(floats[i])) return std::nullopt;
  return halves;
}

std::vector<uint16_t> to_bf16(std::span<const float> floats) {
  std::vector<uint16_t> halves(floats.size());
  std::ranges::transform(floats, halves.begin(), tensor::float_to_bf16);
  return halves;
}

// Counts, for each value, the operands and graph outputs that refer to it.
std::vector<size_t> count_mentions(const graph::Graph& graph) {
  std::vector<size_t> mentions(graph.values.size());
  for (const ValueId id : graph.outputs) ++mentions[id];
  for (const graph::Node& node : graph.nodes)
    for (const ValueId id : node.inputs)
      if (id != graph::kNoValue) ++mentions[id];
  return mentions;
}

// Returns the elements in `type`, BF16 or FP16; nothing if they do not fit.
std::optional<graph::Constant> converted_to(DataType type, const graph::Constant& weight,
                                            std::span<const float> floats,
                                            const PassContext& context) {
  if (type == DataType::kBf16)
    return context.derive(weight, "FP32 to BF16",
                          [floats] { return graph::Constant::of(to_bf16(floats)); });
  const auto halves = to_fp16(floats);
  if (!halves) return std::nullopt;
  return graph::Constant::of(*halves);
}

// Returns a copy of the weight in `type`; the weight itself if its elements do not fit.
ValueId add_copy(graph::Graph& graph, ValueId id, std::span<const float> floats, DataType type,
                 const PassContext& context) {
  auto converted = converted_to(type, *graph.values[id].constant, floats, context);
  if (!converted) return id;
  return graph.add_constant(graph.values[id].name, type, graph.values[id].shape,
                            *std::move(converted));
}

}  // namespace

Status convert_weights(graph::Graph& graph, const PassContext& context) {
  // By weight and type: nodes that share a weight share its copy.
  std::map<std::pair<ValueId, DataType>, ValueId> converted;
  std::vector<size_t> mentions = count_mentions(graph);
  for (graph::Node& node : graph.nodes) {
    if (!std::holds_alternative<graph::Conv>(node.op) &&
        !std::holds_alternative<graph::MatMul>(node.op)) {
      continue;
    }
    const DataType type = graph::storage_type(node.precision.value_or(context.precision));
    if (type == DataType::kFloat32 ||
        goes_to_cpu(graph, node, context.capabilities, context.cpu_operators))
      continue;
    const ValueId weight = node.inputs[kWeight];
    const auto floats = floats_of(graph.values[weight]);
    if (!floats) continue;
    const auto [entry, added] = converted.try_emplace({weight, type});
    if (added) entry->second = add_copy(graph, weight, *floats, type, context);
    if (entry->second == weight) continue;
    node.inputs[kWeight] = entry->second;
    // Freed at once, so that never all weights are in memory twice.
    if (--mentions[weight] == 0) graph.values[weight].constant.reset();
  }
  return {};
}

}  // namespace millrace::lowering
