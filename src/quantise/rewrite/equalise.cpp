// One pass over the nodes, in order. Only constants change: the weights and bias of the Conv that
// makes a value, and the weights of the Conv that reads it. New constants are added beside the old.
#include "quantise/rewrite/equalise.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "quantise/rewrite/weights.h"

namespace millrace::quantise {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::UnaryKind;
using graph::ValueId;

constexpr size_t kWeight = 1, kBias = 2;
// Limit of the factors and of their reciprocals: with a greater one, the factors of a channel that
// happened to be small in all samples would cost too much accuracy in the weights.
constexpr float kMostFactor = 16;

bool is_float_constant(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.values[id].constant &&
         graph.values[id].type == tensor::DataType::kFloat32;
}

// Whether the node is a Conv whose result scales, channel by channel, with its weights and bias:
// both are constants, and it has neither a residual operand nor slopes per channel.
bool scales_through(const Graph& graph, const Node& node) {
  const auto* conv = std::get_if<graph::Conv>(&node.op);
  if (conv == nullptr || !is_float_constant(graph, node.inputs[kWeight])) return false;
  for (size_t slot = kBias + 1; slot < node.inputs.size(); ++slot)
    if (node.inputs[slot] != kNoValue) return false;
  if (node.input(kBias) != kNoValue && !is_float_constant(graph, node.input(kBias))) return false;
  const UnaryKind kind = conv->activation.kind;
  return kind == UnaryKind::kIdentity || kind == UnaryKind::kRelu || kind == UnaryKind::kLeakyRelu;
}

// Returns, by channel of the operand, the greatest magnitude of the weights that multiply it.
std::vector<float> reader_magnitudes(const Graph& graph, const Node& reader) {
  const WeightLayout layout(graph, reader);
  const auto weights = graph.values[reader.inputs[kWeight]].constant->as<float>();
  std::vector<float> greatest(layout.inputs());
  for (size_t i = 0; i < weights.size(); ++i) {
    float& most = greatest[layout.input_of(i)];
    most = std::max(most, std::abs(weights[i]));
  }
  return greatest;
}

// Returns the factor by which to divide each channel of the value. Afterwards the channel and the
// weights that read it have the same greatest magnitude, relative to the greatest of all channels,
// unless the factor is clamped. Channels that are all zero get factor 1.
std::vector<float> factors_for(const ValueStatistics& seen, const std::vector<float>& weights) {
  float greatest_value = 0, greatest_weight = 0;
  std::vector<float> values;
  for (const ChannelStatistics& channel : seen.channels())
    values.push_back(std::max(std::abs(channel.low), std::abs(channel.high)));
  greatest_value = *std::ranges::max_element(values);
  greatest_weight = *std::ranges::max_element(weights);
  std::vector<float> factors(values.size(), 1.0F);
  for (size_t i = 0; i < factors.size(); ++i) {
    if (!(values[i] > 0) || !(weights[i] > 0)) continue;
    const float ratio = (values[i] / greatest_value) / (weights[i] / greatest_weight);
    factors[i] = std::clamp(std::sqrt(ratio), 1 / kMostFactor, kMostFactor);
  }
  return factors;
}

// Adds a copy of the constant with each element multiplied by factor(index of the element).
template <class Factor>
ValueId scaled(Graph& graph, ValueId id, const Factor& factor) {
  const graph::Value old = graph.values[id];
  const auto floats = old.constant->as<float>();
  std::vector<float> elements(floats.begin(), floats.end());
  for (size_t i = 0; i < elements.size(); ++i) elements[i] *= factor(i);
  return graph.add_constant(old.name, old.type, old.shape, graph::Constant::of(elements));
}

void apply(Graph& graph, Node& maker, Node& reader, const std::vector<float>& factors) {
  const WeightLayout made(graph, maker), read(graph, reader);
  maker.inputs[kWeight] = scaled(graph, maker.inputs[kWeight],
                                 [&](size_t i) { return 1 / factors[made.output_of(i)]; });
  if (maker.input(kBias) != kNoValue)
    maker.inputs[kBias] =
        scaled(graph, maker.inputs[kBias], [&](size_t i) { return 1 / factors[i]; });
  reader.inputs[kWeight] =
      scaled(graph, reader.inputs[kWeight], [&](size_t i) { return factors[read.input_of(i)]; });
}

// Returns the Conv that reads the value as its first operand, if it has a constant weight, nothing
// else reads the value and it is no output.
std::optional<uint32_t> only_reader(const Graph& graph, const std::vector<uint32_t>& readers,
                                    ValueId id) {
  if (readers.size() != 1 || std::ranges::find(graph.outputs, id) != graph.outputs.end())
    return std::nullopt;
  const Node& reader = graph.nodes[readers[0]];
  if (!std::holds_alternative<graph::Conv>(reader.op) || reader.inputs[0] != id ||
      std::ranges::count(reader.inputs, id) != 1 ||
      !is_float_constant(graph, reader.inputs[kWeight]))
    return std::nullopt;
  return readers[0];
}

}  // namespace

size_t equalise(Graph& graph, const Calibration& calibration) {
  const auto readers = graph::consumers_of(graph);
  size_t changed = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!scales_through(graph, graph.nodes[i])) continue;
    const ValueId value = graph.nodes[i].outputs[0];
    const auto reader = only_reader(graph, readers[value], value);
    if (!reader || !calibration[value] || calibration[value]->histogram().limit() == 0) continue;
    const std::vector<float> weights = reader_magnitudes(graph, graph.nodes[*reader]);
    if (weights.size() != calibration[value]->channels().size() ||
        *std::ranges::max_element(weights) == 0)
      continue;
    apply(graph, graph.nodes[i], graph.nodes[*reader], factors_for(*calibration[value], weights));
    ++changed;
  }
  return changed;
}

}  // namespace millrace::quantise
