#include "tests/lowering/passes/graph_maker.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph/shape.h"

namespace millrace::lowering {

using graph::Dims;
using graph::ValueId;
using tensor::DataType;

ValueId GraphMaker::input(Dims shape, DataType type) {
  const std::string name = fmt::format("input{}", graph.inputs.size());
  graph.inputs.push_back(graph.add_value({name, type, std::move(shape), std::nullopt}));
  return graph.inputs.back();
}

ValueId GraphMaker::constant(Dims shape, const std::vector<float>& elements) {
  return graph.add_constant(fmt::format("c{}", graph.values.size()), DataType::kFloat32,
                            std::move(shape), graph::Constant::of(elements));
}

ValueId GraphMaker::random_between(Dims shape, float low, float high) {
  std::uniform_real_distribution<float> distribution(low, high);
  const graph::Value like{"", DataType::kFloat32, shape, std::nullopt};
  std::vector<float> elements(like.elements());
  for (float& element : elements) element = distribution(random_);
  return constant(std::move(shape), elements);
}

ValueId GraphMaker::random(Dims shape) {
  return random_between(std::move(shape), -1, 1);
}

ValueId GraphMaker::random_positive(Dims shape) {
  return random_between(std::move(shape), 0.5f, 1.5f);
}

ValueId GraphMaker::add(graph::Operator op, std::vector<ValueId> inputs) {
  graph::Node node{fmt::format("n{}", graph.nodes.size()), std::move(op), std::move(inputs), {}};
  const auto type = graph::infer_output(graph, node);
  EXPECT_TRUE(type.ok()) << type.status().to_string();
  const ValueId id = graph.add_value({node.name + ".out", type->type, type->shape, std::nullopt});
  node.outputs = {id};
  graph.nodes.push_back(std::move(node));
  return id;
}

ValueId GraphMaker::conv(ValueId x, int64_t channels, int64_t kernel) {
  const ValueId weight = random({channels, graph.values[x].shape[1], kernel, kernel});
  const int64_t pad = kernel / 2;
  return add(graph::Conv{{1, 1}, {1, 1}, {pad, pad}, {pad, pad}, 1, {}}, {x, weight});
}

ValueId GraphMaker::requantise(ValueId x, graph::Quantisation quantisation, DataType type) {
  const ValueId id = add(graph::Requantise{}, {x});
  graph.values[id].type = type;
  graph.values[id].quantisation = std::move(quantisation);
  return id;
}

ValueId GraphMaker::quantised_constant(Dims shape, graph::Quantisation quantisation) {
  graph::Value value{
      fmt::format("c{}", graph.values.size()), DataType::kInt8, std::move(shape), {}};
  std::vector<int8_t> elements(value.elements());
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<int8_t>(i % 7) - 3;
  value.constant = graph::Constant::of(elements);
  value.quantisation = std::move(quantisation);
  return graph.add_value(std::move(value));
}

ValueId GraphMaker::linear(const char* op, ValueId x, float scale, uint8_t zero_point,
                           DataType to) {
  const ValueId zero =
      graph.add_constant(fmt::format("c{}", graph.values.size()), DataType::kUint8, {},
                         graph::Constant::of(std::vector<uint8_t>{zero_point}));
  const std::string name = fmt::format("n{}", graph.nodes.size());
  const ValueId id = graph.add_value({name + ".out", to, graph.values[x].shape, std::nullopt});
  graph.nodes.push_back({name, graph::Fallback{op, {}}, {x, number(scale), zero}, {id}});
  return id;
}

ValueId GraphMaker::quantize_linear(ValueId x, float scale, uint8_t zero_point) {
  return linear("QuantizeLinear", x, scale, zero_point, DataType::kUint8);
}

ValueId GraphMaker::dequantize_linear(ValueId x, float scale, uint8_t zero_point) {
  return linear("DequantizeLinear", x, scale, zero_point, DataType::kFloat32);
}

}  // namespace millrace::lowering
