// Builds networks in memory, tersely, and lowers them.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "device/cpu/capabilities/capabilities.h"
#include "graph/network/network.h"
#include "lowering/stage.h"

namespace millrace::lowering::test {

using graph::Dims;
using tensor::DataType;
using Names = std::vector<std::string>;
using Attributes = std::vector<network::Attribute>;

template <class T>
graph::Value constant(std::string name, DataType type, Dims shape, const std::vector<T>& elements) {
  return {std::move(name), type, std::move(shape), graph::Constant::of(elements)};
}

inline graph::Value ints(std::string name, const Dims& elements) {
  return constant(std::move(name), DataType::kInt64, {static_cast<int64_t>(elements.size())},
                  elements);
}

inline graph::Value boolean(std::string name, bool value) {
  return constant(std::move(name), DataType::kBoolean, {}, std::vector<uint8_t>{value});
}

class NetworkBuilder {
 public:
  explicit NetworkBuilder(int opset = 18) { network.opsets[""] = opset; }

  NetworkBuilder& output(const std::string& name, DataType type = DataType::kUnknown) {
    network.outputs.push_back({name, type});
    return *this;
  }
  NetworkBuilder& initializer(graph::Value value) {
    network.initializers.push_back(std::move(value));
    return *this;
  }
  NetworkBuilder& node(const std::string& type, Names inputs, Names outputs,
                       Attributes attributes = {}) {
    network.nodes.push_back(
        {outputs[0] + "_node", "", type, std::move(inputs), outputs, std::move(attributes)});
    return *this;
  }
  // The values that a subgraph reads of the networks around it.
  NetworkBuilder& captures(Names names) {
    network.captures = std::move(names);
    return *this;
  }
  network::Attribute as(const std::string& attribute) const {
    return {attribute, std::make_shared<const network::Network>(network)};
  }

  network::Network network;
};

// A value that is there before the stage runs; its elements are not known.
inline Known given(std::string name, DataType type, Dims shape) {
  return {std::move(name), type, std::move(shape)};
}
// One whose elements are.
inline Known told(graph::Value value) {
  return {value.name, value.type, value.shape, value.constant};
}

// Lowers all nodes of the network.
inline Result<Stage> lower(const NetworkBuilder& builder, const std::vector<Known>& known,
                           bool may_leave_rest = true) {
  std::vector<size_t> nodes(builder.network.nodes.size());
  std::iota(nodes.begin(), nodes.end(), size_t{0});
  return lower_stage({builder.network, device::cpu::capabilities(), nodes, known, may_leave_rest});
}

// A stage that must be lowered, checked.
inline Stage lower_valid(const NetworkBuilder& builder, const std::vector<Known>& known) {
  Result<Stage> stage = lower(builder, known);
  EXPECT_TRUE(stage.ok()) << stage.status().to_string();
  if (!stage.ok()) return Stage();
  EXPECT_TRUE(graph::validate(stage->graph).ok()) << graph::validate(stage->graph).to_string();
  EXPECT_EQ(stage->inputs.size(), stage->graph.inputs.size());
  EXPECT_EQ(stage->outputs.size(), stage->graph.outputs.size());
  return *std::move(stage);
}

inline std::vector<graph::Operator> operators_of(const Stage& stage) {
  std::vector<graph::Operator> result;
  for (const graph::Node& node : stage.graph.nodes) result.push_back(node.op);
  return result;
}

inline Dims output_shape(const Stage& stage, size_t index = 0) {
  return stage.graph.values[stage.graph.outputs[index]].shape;
}

}  // namespace millrace::lowering::test
