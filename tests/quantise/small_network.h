// A network of three convolutions with seeded weights, and samples for it.
#pragma once

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/cpu/capabilities/capabilities.h"
#include "graph/compiled_model.h"
#include "lowering/finish.h"
#include "quantise/calibrate/program_runner.h"
#include "quantise/calibrate/sample.h"

namespace millrace::quantise {

inline std::vector<float> random_floats(size_t count, uint32_t seed, float spread = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> floats(count);
  for (float& element : floats) element = normal(generator);
  return floats;
}

inline graph::ValueId add_conv(graph::Graph& graph, const std::string& name, graph::ValueId x,
                               int64_t channels, graph::UnaryKind activation, uint32_t seed) {
  const graph::Dims in = graph.values[x].shape;
  const auto weights = random_floats(static_cast<size_t>(channels * in[1] * 9), seed, 0.3F);
  const graph::ValueId weight =
      graph.add_constant(name + "_w", tensor::DataType::kFloat32, {channels, in[1], 3, 3},
                         graph::Constant::of(weights));
  const graph::ValueId bias = graph.add_constant(
      name + "_b", tensor::DataType::kFloat32, {channels},
      graph::Constant::of(random_floats(static_cast<size_t>(channels), seed + 1)));
  const graph::ValueId y = graph.add_value(
      {name + "_y", tensor::DataType::kFloat32, {1, channels, in[2], in[3]}, std::nullopt});
  graph::Conv conv;
  conv.strides = conv.dilations = conv.pads_begin = conv.pads_end = {1, 1};
  conv.activation.kind = activation;
  graph.nodes.push_back({name, conv, {x, weight, bias}, {y}});
  return y;
}

// x [1, 3, 8, 8] -> first (Relu) -> second (Relu) -> last, the output.
inline graph::Graph small_graph() {
  graph::Graph graph;
  const graph::ValueId x =
      graph.add_value({"x", tensor::DataType::kFloat32, {1, 3, 8, 8}, std::nullopt});
  graph.inputs = {x};
  const graph::ValueId a = add_conv(graph, "first", x, 8, graph::UnaryKind::kRelu, 1);
  const graph::ValueId b = add_conv(graph, "second", a, 8, graph::UnaryKind::kRelu, 3);
  graph.outputs = {add_conv(graph, "last", b, 4, graph::UnaryKind::kIdentity, 5)};
  return graph;
}

// x -> left and right, whose numbers lie near 1000 -> difference -> last, the output. BF16 has
// steps of 4 near 1000, so that all of the first three need a higher precision.
inline graph::Graph cancelling_graph() {
  graph::Graph graph;
  const graph::ValueId x =
      graph.add_value({"x", tensor::DataType::kFloat32, {1, 3, 8, 8}, std::nullopt});
  graph.inputs = {x};
  const graph::ValueId left = add_conv(graph, "left", x, 8, graph::UnaryKind::kIdentity, 1);
  const graph::ValueId right = add_conv(graph, "right", x, 8, graph::UnaryKind::kIdentity, 3);
  for (const graph::Node& node : graph.nodes)
    graph.values[node.inputs[2]].constant = graph::Constant::of(std::vector<float>(8, 1000.0F));
  const graph::ValueId difference =
      graph.add_value({"difference_y", tensor::DataType::kFloat32, {1, 8, 8, 8}, std::nullopt});
  graph.nodes.push_back(
      {"difference", graph::Binary{graph::BinaryKind::kSub}, {left, right}, {difference}});
  graph.outputs = {add_conv(graph, "last", difference, 4, graph::UnaryKind::kIdentity, 5)};
  return graph;
}

inline Result<graph::CompiledModel> finish(graph::Graph graph) {
  return lowering::finish(std::move(graph), {.capabilities = device::cpu::capabilities()}, "small");
}

// Whether the processor does, or has FP32 take its place.
inline bool computes_in_bf16() {
  graph::Graph graph = small_graph();
  for (graph::Node& node : graph.nodes) node.precision = graph::Precision::kBf16;
  const auto model = finish(std::move(graph));
  if (!model.ok()) return false;
  const auto runner = ProgramRunner::load(std::make_shared<const graph::CompiledModel>(*model));
  return runner.ok() && runner->program().info().steps.front().precision == graph::Precision::kBf16;
}

inline Sample sample_of(const std::string& name, const std::vector<float>& floats) {
  Sample sample{name, {std::vector<std::byte>(floats.size() * sizeof(float))}};
  std::memcpy(sample.inputs[0].data(), floats.data(), sample.inputs[0].size());
  return sample;
}

inline std::vector<Sample> random_samples(size_t count) {
  std::vector<Sample> samples;
  for (size_t i = 0; i < count; ++i)
    samples.push_back(sample_of("sample " + std::to_string(i),
                                random_floats(192, 100 + static_cast<uint32_t>(i))));
  return samples;
}

}  // namespace millrace::quantise
