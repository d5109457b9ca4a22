#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"
#include "tensor/half.h"

namespace millrace::lowering {
namespace {

using graph::Node;
using graph::ValueId;
using tensor::DataType;

bool is_half(DataType type) {
  return type == DataType::kFp16 || type == DataType::kBf16;
}

graph::Constant widened(const graph::Constant& constant, DataType type) {
  const auto halves = constant.as<uint16_t>();
  std::vector<float> floats(halves.size());
  std::ranges::transform(halves, floats.begin(),
                         type == DataType::kFp16 ? tensor::fp16_to_float : tensor::bf16_to_float);
  return graph::Constant::of(floats);
}

// Widens all values but inputs and outputs of the graph in place.
void widen_inner_values(graph::Graph& graph, const PassContext& context) {
  std::vector<bool> boundary(graph.values.size());
  for (ValueId id : graph.inputs) boundary[id] = true;
  for (ValueId id : graph.outputs) boundary[id] = true;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    graph::Value& value = graph.values[id];
    if (boundary[id] || !is_half(value.type)) continue;
    if (value.constant)
      value.constant = context.derive(
          *value.constant, value.type == DataType::kFp16 ? "FP16 to FP32" : "BF16 to FP32",
          [&value] { return widened(*value.constant, value.type); });
    value.type = DataType::kFloat32;
  }
  for (Node& node : graph.nodes) {
    auto* cast = std::get_if<graph::Cast>(&node.op);
    if (cast != nullptr && is_half(cast->to)) cast->to = DataType::kFloat32;
  }
}

// The FLOAT32 copies of boundary values, indexed by value; every other value maps to itself.
class Twins {
 public:
  explicit Twins(graph::Graph& graph) : graph_(graph), twins_(graph.values.size()) {
    std::iota(twins_.begin(), twins_.end(), ValueId{0});
  }

  ValueId add(ValueId id) {
    graph::Value twin = graph_.values[id];
    twin.name += ".fp32";
    twin.type = DataType::kFloat32;
    return twins_[id] = graph_.add_value(std::move(twin));
  }

  // Makes all nodes read and make the copies.
  void use() {
    for (Node& node : graph_.nodes) {
      for (ValueId& id : node.inputs)
        if (id != graph::kNoValue) id = twins_[id];
      for (ValueId& id : node.outputs) id = twins_[id];
    }
  }

 private:
  graph::Graph& graph_;
  std::vector<ValueId> twins_;
};

Node cast_node(const graph::Graph& graph, ValueId from, ValueId to) {
  return {graph.values[to].name + ".cast", graph::Cast{graph.values[to].type}, {from}, {to}};
}

}  // namespace

Status widen_half(graph::Graph& graph, const PassContext& context) {
  widen_inner_values(graph, context);
  Twins twins(graph);
  std::vector<Node> input_casts, output_casts;
  for (ValueId id : graph.inputs) {
    if (!is_half(graph.values[id].type)) continue;
    input_casts.push_back(cast_node(graph, id, twins.add(id)));
  }
  for (ValueId id : graph.outputs) {
    if (!is_half(graph.values[id].type)) continue;
    output_casts.push_back(cast_node(graph, twins.add(id), id));
  }
  twins.use();
  graph.nodes.insert(graph.nodes.begin(), input_casts.begin(), input_casts.end());
  graph.nodes.insert(graph.nodes.end(), output_casts.begin(), output_casts.end());
  return {};
}

}  // namespace millrace::lowering
