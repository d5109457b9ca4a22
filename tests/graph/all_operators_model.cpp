#include "tests/graph/all_operators_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph/memory_plan.h"
#include "graph/shape.h"

namespace millrace::test {
namespace {

using graph::Dims;
using graph::Node;
using graph::ValueId;
using tensor::DataType;

constexpr ValueId kAbsent = graph::kNoValue;

class ModelBuilder {
 public:
  ValueId input(const std::string& name, DataType type, Dims shape) {
    const ValueId id = graph().add_value({name, type, std::move(shape), {}});
    graph().inputs.push_back(id);
    return id;
  }

  ValueId weights(Dims shape) {
    size_t count = 1;
    for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
    std::vector<float> elements(count);
    for (size_t i = 0; i < count; ++i) elements[i] = 0.125f * static_cast<float>(i % 7);
    return graph().add_constant(fmt::format("w{}", graph().values.size()), DataType::kFloat32,
                                std::move(shape), graph::Constant::of(elements));
  }

  ValueId indices(const std::vector<int64_t>& elements) {
    return graph().add_constant("indices", DataType::kInt64,
                                {static_cast<int64_t>(elements.size())},
                                graph::Constant::of(elements));
  }

  ValueId node(graph::Operator op, std::vector<ValueId> inputs) {
    Node node{fmt::format("n{}", graph().nodes.size()), std::move(op), std::move(inputs), {}};
    const graph::ValueType type = graph::infer_output(graph(), node).value();
    node.outputs = {graph().add_value({node.name + ".out", type.type, type.shape, {}})};
    graph().nodes.push_back(node);
    return node.outputs[0];
  }

  // A node whose result is quantised.
  ValueId quantised(graph::Operator op, std::vector<ValueId> inputs, DataType type,
                    graph::Quantisation quantisation) {
    const ValueId id = node(std::move(op), std::move(inputs));
    graph().values[id].type = type;
    graph().values[id].quantisation = std::move(quantisation);
    return id;
  }

  // A node with two outputs, each like its operand.
  std::pair<ValueId, ValueId> fallback(graph::Fallback op, ValueId x) {
    Node node{fmt::format("n{}", graph().nodes.size()), std::move(op), {x, kAbsent}, {}};
    for (const char* suffix : {".out", ".out/1"}) {
      const graph::Value like = graph().values[x];
      node.outputs.push_back(graph().add_value({node.name + suffix, like.type, like.shape, {}}));
    }
    graph().nodes.push_back(node);
    return {node.outputs[0], node.outputs[1]};
  }

  void output(ValueId id) { graph().outputs.push_back(id); }

  graph::CompiledModel finish() {
    for (const ValueId id : graph().inputs) model_.inputs.push_back(boundary(id));
    for (const ValueId id : graph().outputs) model_.outputs.push_back(boundary(id));
    model_.outputs.back().hw.reset();
    model_.inputs[0].quant = {0.03125, -3, tensor::Rounding::kTowardZero};
    const auto nodes = static_cast<uint32_t>(graph().nodes.size());
    model_.partitions = {{graph::PartitionKind::kNpu, 0, nodes - 2},
                         {graph::PartitionKind::kCpu, nodes - 2, 2}};
    plan();
    return std::move(model_);
  }

  graph::CompiledModel& model() { return model_; }

 private:
  graph::Graph& graph() { return model_.graph; }

  graph::Boundary boundary(ValueId id) {
    const graph::Value& value = graph().values[id];
    graph::Boundary boundary;
    boundary.value = id;
    boundary.cpu = tensor::make_cpu_desc(
        value.name, value.type, std::vector<uint32_t>(value.shape.begin(), value.shape.end()));
    boundary.hw = tensor::make_hw_desc(boundary.cpu, DataType::kBf16).value();
    return boundary;
  }

  uint32_t last_use(ValueId id) {
    const std::vector<uint32_t> readers = graph::consumers_of(graph())[id];
    return readers.empty() ? static_cast<uint32_t>(graph().nodes.size() - 1) : readers.back();
  }

  void plan() {
    std::vector<graph::Lifetime> lives;
    std::vector<ValueId> values;
    for (uint32_t step = 0; step < graph().nodes.size(); ++step) {
      const Node& node = graph().nodes[step];
      for (const ValueId id : node.outputs) {
        graph::Lifetime life{graph().values[id].bytes(), step, last_use(id), {}};
        if (const auto operand = graph::in_place_operand(graph(), node)) {
          const ValueId from = node.input(*operand);
          if (last_use(from) == step) life.in_place_of = producer(from);
        }
        lives.push_back(life);
        values.push_back(id);
      }
    }
    const graph::MemoryPlan plan = graph::plan_memory(lives);
    for (size_t i = 0; i < lives.size(); ++i)
      model_.plan.push_back({values[i], plan.offsets[i], lives[i].bytes});
    model_.arena_bytes = plan.arena_bytes;
  }

  uint32_t producer(ValueId id) {
    const auto made_by = [id](const Node& node) { return node.outputs[0] == id; };
    const auto& nodes = graph().nodes;
    return static_cast<uint32_t>(std::find_if(nodes.begin(), nodes.end(), made_by) - nodes.begin());
  }

  graph::CompiledModel model_;
};

// An image branch: [1, 4, 8, 8] to [1, 8, 4, 4].
ValueId image_branch(ModelBuilder& b, ValueId image) {
  const ValueId weight = b.weights({8, 2, 3, 3}), bias = b.weights({8});
  graph::Conv conv{{2, 1}, {1, 2}, {1, 2}, {1, 2}, 2, {graph::UnaryKind::kClip, -1, 6}};
  ValueId x = b.node(conv, {image, weight, bias});  // [1, 8, 4, 8]
  graph::Conv pointwise{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}};
  const ValueId square = b.weights({8, 8, 1, 1}), slope = b.weights({8});
  x = b.node(pointwise, {x, square, kAbsent, x, slope});
  graph::Pool pool{graph::PoolKind::kAverage, {2, 3}, {1, 2}, {1, 1}, {0, 1}, {1, 1}, {1, 0}, true};
  x = b.node(pool, {x});  // [1, 8, 4, 4]
  x = b.node(graph::BatchNormalization{1e-3f}, {x, bias, slope, b.weights({8}), b.weights({8})});
  x = b.node(graph::Unary{{graph::UnaryKind::kHardSigmoid, 0.2f, 0.5f}}, {x});
  return b.node(graph::Binary{graph::BinaryKind::kPrelu}, {x, b.weights({1, 8, 1, 1})});
}

// Operators that move data: [1, 8, 4, 4] to [1, 2, 24, 3, 9].
ValueId movement_branch(ModelBuilder& b, ValueId x) {
  x = b.node(graph::Concat{1}, {x, x});                                       // [1, 16, 4, 4]
  x = b.node(graph::Slice{{0, 15, 0, 0}, {1, 8, 4, 3}, {1, -2, 1, 1}}, {x});  // [1, 8, 4, 3]
  x = b.node(graph::Pad{graph::PadMode::kReflect, {0, 0, 1, -1}, {0, 0, 1, 1}, 0.5f}, {x});
  graph::Resize resize{graph::ResizeMode::kLinear,
                       graph::CoordinateMode::kPytorchHalfPixel,
                       graph::NearestMode::kRoundPreferCeil,
                       {1, 8, 6, 9},
                       {1, 1, 1, 3}};
  x = b.node(resize, {x});                             // [1, 8, 6, 9]
  x = b.node(graph::Reshape{{1, 2, 4, 6, 9}}, {x});    // splits the channels
  x = b.node(graph::Transpose{{0, 1, 3, 2, 4}}, {x});  // [1, 2, 6, 4, 9]
  x = b.node(graph::Reshape{{1, 2, 24, 9}}, {x});
  x = b.node(graph::Reshape{{1, 2, 24, 1, 9}}, {x});
  return b.node(graph::Expand{{1, 2, 24, 3, 9}}, {x});
}

}  // namespace

graph::CompiledModel all_operators_model() {
  ModelBuilder b;
  b.model().name = "every operator, \xc3\xa9t\xc3\xa9";
  b.model().producer = "tests 1.0";
  b.model().precision = graph::Precision::kBf16;
  b.model().batch_size = 4;

  const ValueId image = b.input("image", DataType::kFloat32, {1, 4, 8, 8});
  const ValueId vector = b.input("vector", DataType::kFloat32, {3, 5});
  const ValueId features = image_branch(b, image);
  const ValueId moved = movement_branch(b, features);
  const ValueId pooled = b.node(graph::GlobalPool{graph::PoolKind::kMax}, {features});
  const ValueId reduced = b.node(graph::Reduce{graph::ReduceKind::kProd, {2, 4}, false}, {moved});
  graph::MatMul product{true, false, 0.5f, {graph::UnaryKind::kElu, 2, 0}};
  const ValueId dense = b.node(product, {vector, b.weights({3, 7}), b.weights({7})});
  ValueId gathered = b.node(graph::Gather{1}, {dense, b.indices({0, -1, 3, 3})});
  const ValueId per_tensor =
      b.quantised(graph::Requantise{}, {gathered}, DataType::kUint8, {{0.25f}, {128}});
  const ValueId per_index = b.quantised(graph::Requantise{}, {per_tensor}, DataType::kInt8,
                                        {{0.5f, 1, 2, 4}, {0, -1, 2, -3}, 1});
  gathered = b.node(graph::Requantise{}, {per_index});
  const ValueId normal = b.node(graph::Softmax{1, true}, {gathered});
  const graph::Fallback attributes{"com.example.EveryKind",
                                   {{"a_float", 0.1f},
                                    {"a_text", std::string("\xc3\xa9t\xc3\xa9")},
                                    {"an_integer", int64_t{-1} << 40},
                                    {"floats", std::vector<float>{1, -2.5f}},
                                    {"integers", Dims{}},
                                    {"texts", std::vector<std::string>{"", "two"}}}};
  const ValueId last = b.fallback(attributes, normal).second;
  const ValueId cast = b.node(graph::Cast{DataType::kInt32}, {last});
  for (const ValueId id : {pooled, reduced, cast}) b.output(id);
  return b.finish();
}

}  // namespace millrace::test
