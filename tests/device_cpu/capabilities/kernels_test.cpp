// Every operator with every element type: the device loads what it states, refuses the rest, and
// crashes on nothing.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "device/cpu/capabilities/capabilities.h"
#include "graph/shape.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using tensor::DataType;

struct Case {
  graph::Operator op;
  std::vector<Dims> operands;
};

std::vector<Case> cases() {
  const Dims image = {1, 16, 6, 6}, channels = {16}, two = {2, 2}, one = {1, 1}, none = {0, 0};
  const graph::Pool max{graph::PoolKind::kMax, two, two, one, none, none, none, false};
  graph::Pool average = max;
  average.kind = graph::PoolKind::kAverage;
  const graph::Resize nearest{graph::ResizeMode::kNearest,
                              graph::CoordinateMode::kAsymmetric,
                              graph::NearestMode::kFloor,
                              {1, 16, 12, 12},
                              {1, 1, 2, 2}};
  graph::Resize linear = nearest;
  linear.mode = graph::ResizeMode::kLinear;
  std::vector<Case> all = {
      {graph::Conv{one, one, none, none, 1, {}}, {image, {8, 16, 1, 1}, {8}}},
      {max, {image}},
      {average, {image}},
      {graph::GlobalPool{graph::PoolKind::kMax}, {image}},
      {graph::GlobalPool{graph::PoolKind::kAverage}, {image}},
      {graph::MatMul{}, {{4, 3}, {3, 5}, {5}}},
      {graph::BatchNormalization{}, {image, channels, channels, channels, channels}},
      {graph::Softmax{1, false}, {image}},
      {graph::Concat{1}, {image, image}},
      {graph::Reshape{{16, 36}}, {image}},
      {graph::Transpose{{0, 2, 3, 1}}, {image}},
      {graph::Slice{{0, 1, 0, 5}, {1, 8, 6, 3}, {1, 2, 1, -2}}, {image}},
      {graph::Gather{1}, {image, {3}}},
      {graph::Pad{graph::PadMode::kConstant, {0, 0, 1, -1}, {0, 0, 0, 2}, 1}, {image}},
      {nearest, {image}},
      {linear, {image}},
      {graph::Expand{{2, 16, 6, 6}}, {image}},
  };
  for (int kind = 0; kind < graph::kUnaryKindCount; ++kind)
    all.push_back({graph::Unary{{static_cast<graph::UnaryKind>(kind), 1, 2}}, {image}});
  for (int kind = 0; kind < graph::kBinaryKindCount; ++kind)
    all.push_back({graph::Binary{static_cast<graph::BinaryKind>(kind)}, {image, {6, 1}}});
  for (int kind = 0; kind < graph::kReduceKindCount; ++kind)
    all.push_back({graph::Reduce{static_cast<graph::ReduceKind>(kind), {1, 3}, true}, {image}});
  for (int type = 1; type < tensor::kDataTypeCount; ++type)
    all.push_back({graph::Cast{static_cast<DataType>(type)}, {image}});
  return all;
}

DataType type_of_operand(const graph::Operator& op, size_t index, DataType type) {
  const bool indices = std::holds_alternative<graph::Gather>(op) && index == 1;
  return indices ? DataType::kInt32 : type;
}

graph::Boundary boundary_of(const graph::Graph& graph, graph::ValueId id) {
  const graph::Value& value = graph.values[id];
  graph::Boundary boundary;
  boundary.value = id;
  boundary.cpu =
      tensor::make_cpu_desc(value.name, value.type, {value.shape.begin(), value.shape.end()});
  return boundary;
}

// The operator on operands of one type, as an archive changed by hand might state it: where the
// shape function refuses them, the output is said to be as for FLOAT32.
std::shared_ptr<graph::CompiledModel> model_of(const Case& test, DataType type) {
  auto model = std::make_shared<graph::CompiledModel>();
  graph::Graph& graph = model->graph;
  graph::Graph as_floats;
  graph::Node node{"the_node", test.op, {}, {}};
  for (size_t i = 0; i < test.operands.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    node.inputs.push_back(
        graph.add_value({name, type_of_operand(test.op, i, type), test.operands[i], {}}));
    as_floats.add_value(
        {name, type_of_operand(test.op, i, DataType::kFloat32), test.operands[i], {}});
  }
  graph.inputs = node.inputs;
  const graph::ValueType expected = graph::infer_output(as_floats, node).value();
  const auto actual = graph::infer_output(graph, node);
  const DataType output = actual.ok() ? actual->type : type;
  node.outputs = {graph.add_value({"y", output, expected.shape, {}})};
  graph.nodes.push_back(node);
  graph.outputs = node.outputs;
  for (const graph::ValueId id : graph.inputs) model->inputs.push_back(boundary_of(graph, id));
  model->outputs.push_back(boundary_of(graph, node.outputs[0]));
  model->partitions = {{graph::PartitionKind::kCpu, 0, 1}};
  return model;
}

TEST(Capabilities, TheDeviceLoadsWhatItStatesAndRefusesTheRest) {
  for (const Case& test : cases())
    for (int number = 1; number < tensor::kDataTypeCount; ++number) {
      const auto type = static_cast<DataType>(number);
      SCOPED_TRACE(::testing::Message() << graph::name_of(test.op) << " (case of type "
                                        << tensor::to_string(type) << ")");
      const auto model = model_of(test, type);
      const Status listed = capabilities().check(model->graph);
      const Status loaded = cpu_device().load(model).status();
      EXPECT_EQ(loaded.code(), listed.code()) << loaded.to_string();
      if (!listed.ok()) {
        EXPECT_THAT(loaded.message(), ::testing::HasSubstr("node 'the_node': there is no kernel"));
      }
    }
}

TEST(Capabilities, WhatLoadsRuns) {
  for (const Case& test : cases())
    for (int number = 1; number < tensor::kDataTypeCount; ++number) {
      const auto type = static_cast<DataType>(number);
      const auto model = model_of(test, type);
      if (!capabilities().check(model->graph).ok()) continue;
      SCOPED_TRACE(::testing::Message()
                   << graph::name_of(test.op) << " of " << tensor::to_string(type));
      std::vector<Tensor> inputs;
      for (const Dims& dims : test.operands) inputs.push_back(Tensor::zeros(dims));
      EXPECT_EQ(run_model(model, inputs, View::kCpu).dims,
                model->graph.values[model->graph.outputs[0]].shape);
    }
}

}  // namespace
}  // namespace millrace::device::cpu
