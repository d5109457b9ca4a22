// Weights are rounded to the nearest multiple of their scale, ties to even. With statistics of the
// operand, the bias b becomes b - sum((rounded w - w) * mean(x)) before it is quantised.
#include "quantise/rewrite/weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>

namespace millrace::quantise {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using tensor::DataType;

constexpr size_t kWeight = 1, kBias = 2;
constexpr float kMostWeight = 127;  // the greatest magnitude of a quantised weight
// The greatest magnitude of a quantised bias: half of the range of the INT32 accumulator, so that
// the sum of products has the other half.
constexpr double kMostBias = 1 << 30;

size_t size(int64_t dimension) {
  return static_cast<size_t>(dimension);
}

// Returns the weights of the node. The alpha of a MatMul is multiplied into them and set to 1, so
// that it is rounded together with them.
std::vector<float> take_weights(const Graph& graph, Node& node) {
  const auto floats = graph.values[node.inputs[kWeight]].constant->as<float>();
  std::vector<float> weights(floats.begin(), floats.end());
  if (auto* product = std::get_if<graph::MatMul>(&node.op); product && product->alpha != 1) {
    for (float& weight : weights) weight *= product->alpha;
    product->alpha = 1;
  }
  return weights;
}

// Returns the bias of the node, or zeros if it has none.
std::vector<double> take_bias(const Graph& graph, const Node& node, size_t channels) {
  if (node.input(kBias) == kNoValue) return std::vector<double>(channels);
  const auto floats = graph.values[node.inputs[kBias]].constant->as<float>();
  return {floats.begin(), floats.end()};
}

// Returns the scale of each output channel: its greatest weight becomes 127, unless a bias within
// kMostBias needs a greater scale. A channel whose weights are all zero has the scale of the
// channel with the greatest weight.
std::vector<float> scales_for(const std::vector<float>& weights, const std::vector<double>& bias,
                              const WeightLayout& layout, float operand_scale) {
  std::vector<float> greatest(layout.outputs());
  for (size_t i = 0; i < weights.size(); ++i) {
    float& most = greatest[layout.output_of(i)];
    most = std::max(most, std::abs(weights[i]));
  }
  float common = *std::ranges::max_element(greatest);
  if (common == 0) common = kMostWeight;
  std::vector<float> scales;
  for (size_t channel = 0; channel < greatest.size(); ++channel) {
    const float most = greatest[channel] > 0 ? greatest[channel] : common;
    const double for_bias = std::abs(bias[channel]) / kMostBias / double{operand_scale};
    scales.push_back(static_cast<float>(std::clamp(std::max(double{most} / kMostWeight, for_bias),
                                                   double{std::numeric_limits<float>::min()},
                                                   double{std::numeric_limits<float>::max()})));
  }
  return scales;
}

std::vector<int8_t> rounded(const std::vector<float>& weights, const std::vector<float>& scales,
                            const WeightLayout& layout) {
  std::vector<int8_t> integers(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    const float integer = std::nearbyint(weights[i] / scales[layout.output_of(i)]);
    integers[i] = static_cast<int8_t>(std::clamp(integer, -kMostWeight, kMostWeight));
  }
  return integers;
}

// Returns the amount that rounding the weights adds to the mean of each channel of the result: the
// sum of (rounded weight - weight) * mean of the operand's channel.
std::vector<double> mean_shift(const std::vector<float>& weights,
                               const std::vector<int8_t>& integers,
                               const std::vector<float>& scales, const WeightLayout& layout,
                               std::span<const ChannelStatistics> operand) {
  std::vector<double> shift(layout.outputs());
  for (size_t i = 0; i < weights.size(); ++i) {
    const size_t channel = layout.output_of(i);
    const double added = double{scales[channel]} * integers[i] - double{weights[i]};
    shift[channel] += added * operand[layout.input_of(i)].mean();
  }
  return shift;
}

ValueId add_constant(Graph& graph, std::string name, DataType type, graph::Dims shape,
                     graph::Constant constant, graph::Quantisation quantisation) {
  const ValueId id =
      graph.add_constant(std::move(name), type, std::move(shape), std::move(constant));
  graph.values[id].quantisation = std::move(quantisation);
  return id;
}

ValueId add_bias(Graph& graph, std::string name, const std::vector<double>& bias,
                 const std::vector<float>& weight_scales, float operand_scale) {
  std::vector<int32_t> integers;
  std::vector<float> scales;
  for (size_t i = 0; i < bias.size(); ++i) {
    const double scale = double{weight_scales[i]} * double{operand_scale};
    scales.push_back(std::max(static_cast<float>(scale), std::numeric_limits<float>::min()));
    const double integer = std::nearbyint(bias[i] / double{scales.back()});
    integers.push_back(static_cast<int32_t>(std::clamp(integer, -kMostBias, kMostBias)));
  }
  std::vector<int32_t> zeros(scales.size());
  return add_constant(graph, std::move(name), DataType::kInt32,
                      {static_cast<int64_t>(integers.size())}, graph::Constant::of(integers),
                      {std::move(scales), std::move(zeros), 0});
}

// Whether the channels of the statistics are those that the weights multiply. They are not if a
// MatMul transposes its first operand.
bool are_of_channels(const ValueStatistics* seen, const Node& node, const WeightLayout& layout) {
  const auto* product = std::get_if<graph::MatMul>(&node.op);
  return seen != nullptr && seen->channels().size() == layout.inputs() &&
         !(product != nullptr && product->transpose_a);
}

}  // namespace

WeightLayout::WeightLayout(const Graph& graph, const Node& node) {
  const graph::Dims& shape = graph.values[node.inputs[kWeight]].shape;
  if (const auto* conv = std::get_if<graph::Conv>(&node.op)) {
    for (size_t i = 2; i < shape.size(); ++i) kernel_ *= size(shape[i]);
    outputs_ = size(shape[0]);
    group_inputs_ = size(shape[1]);
    group_outputs_ = outputs_ / size(conv->group);
    inputs_ = group_inputs_ * size(conv->group);
    row_ = group_inputs_ * kernel_;
    return;
  }
  const bool transposed = std::get<graph::MatMul>(node.op).transpose_b;
  outputs_ = size(shape[transposed ? 0 : 1]);
  inputs_ = size(shape[transposed ? 1 : 0]);
  axis_ = transposed ? 0 : 1;
  group_inputs_ = inputs_;
  group_outputs_ = outputs_;
  row_ = transposed ? inputs_ : 1;
  if (!transposed) kernel_ = outputs_;
}

size_t WeightLayout::output_of(size_t element) const noexcept {
  return element / row_ % outputs_;
}

size_t WeightLayout::input_of(size_t element) const noexcept {
  return output_of(element) / group_outputs_ * group_inputs_ + element / kernel_ % group_inputs_;
}

void quantise_weights(Graph& graph, Node& node, const Encoding& operand,
                      const ValueStatistics* seen) {
  const ValueId weight = node.inputs[kWeight];
  if (!graph.values[weight].constant) return;
  const WeightLayout layout(graph, node);
  const float operand_scale = operand.quantisation.scales[0];
  const std::vector<float> weights = take_weights(graph, node);
  std::vector<double> bias = take_bias(graph, node, layout.outputs());
  const std::vector<float> scales = scales_for(weights, bias, layout, operand_scale);
  const std::vector<int8_t> integers = rounded(weights, scales, layout);
  const bool corrects = are_of_channels(seen, node, layout);
  if (corrects) {
    const auto shift = mean_shift(weights, integers, scales, layout, seen->channels());
    std::ranges::transform(bias, shift, bias.begin(), std::minus<>{});
  }
  const std::string name = graph.values[weight].name;
  node.inputs[kWeight] = add_constant(graph, name, DataType::kInt8, graph.values[weight].shape,
                                      graph::Constant::of(integers),
                                      {scales, std::vector<int32_t>(scales.size()), layout.axis()});
  if (!corrects && node.input(kBias) == kNoValue) return;
  if (node.inputs.size() <= kBias) node.inputs.resize(kBias + 1, ValueId{kNoValue});
  const std::string bias_name =
      node.inputs[kBias] == kNoValue ? name + "_bias" : graph.values[node.inputs[kBias]].name;
  node.inputs[kBias] = add_bias(graph, bias_name, bias, scales, operand_scale);
}

}  // namespace millrace::quantise
