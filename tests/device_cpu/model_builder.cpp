#include "tests/device_cpu/model_builder.h"

#include <stdexcept>

#include "fallback/evaluate.h"
#include "graph/partitions.h"
#include "graph/shape.h"
#include "graph/vendor_quantisation.h"
#include "tensor/half.h"

namespace millrace::device::cpu {

using graph::ValueId;
using tensor::DataType;

ModelBuilder::ModelBuilder(graph::Precision precision) {
  model_.name = "test";
  model_.precision = precision;
}

std::string ModelBuilder::next_name(const std::string& kind) {
  return kind + "_" + std::to_string(names_++);
}

graph::Boundary ModelBuilder::boundary(ValueId id) const {
  const graph::Value& value = model_.graph.values[id];
  graph::Boundary boundary;
  boundary.value = id;
  boundary.cpu =
      tensor::make_cpu_desc(value.name, value.type, {value.shape.begin(), value.shape.end()});
  if (tensor::fits_float32(value.type))
    boundary.hw = tensor::make_hw_desc(boundary.cpu, graph::storage_type(model_.precision)).value();
  return boundary;
}

ValueId ModelBuilder::input(const graph::Dims& shape, DataType type) {
  const ValueId id = model_.graph.add_value({next_name("input"), type, shape, {}});
  model_.graph.inputs.push_back(id);
  model_.inputs.push_back(boundary(id));
  return id;
}

ValueId ModelBuilder::constant(const Tensor& tensor, DataType type) {
  if (type == DataType::kFloat32)
    return model_.graph.add_constant(next_name("constant"), type, tensor.dims,
                                     graph::Constant::of(tensor.data));
  std::vector<uint16_t> bits;
  for (float value : tensor.data)
    bits.push_back(type == DataType::kBf16 ? tensor::float_to_bf16(value)
                                           : tensor::float_to_fp16(value));
  return integers(tensor.dims, type, bits);
}

ValueId ModelBuilder::node(graph::Operator op, std::vector<ValueId> inputs) {
  graph::Node node{next_name("node"), std::move(op), std::move(inputs), {}};
  const auto type = graph::infer_output(model_.graph, node);
  if (!type.ok()) throw std::invalid_argument(type.status().to_string());
  const ValueId id = model_.graph.add_value({next_name("value"), type->type, type->shape, {}});
  node.outputs = {id};
  model_.graph.nodes.push_back(std::move(node));
  return id;
}

ValueId ModelBuilder::quantised(graph::Operator op, std::vector<ValueId> inputs, DataType type,
                                graph::Quantisation quantisation) {
  const ValueId id = node(std::move(op), std::move(inputs));
  quantise(id, type, std::move(quantisation));
  return id;
}

void ModelBuilder::quantise(ValueId id, DataType type, graph::Quantisation quantisation) {
  model_.graph.values[id].type = type;
  model_.graph.values[id].quantisation = std::move(quantisation);
}

std::vector<ValueId> ModelBuilder::fallback(graph::Fallback op, std::vector<ValueId> inputs,
                                            size_t outputs) {
  std::vector<fallback::TensorView> views(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == graph::kNoValue) continue;
    const graph::Value& value = model_.graph.values[inputs[i]];
    views[i] = {value.type, value.shape, value.constant ? value.constant->bytes.data() : nullptr};
  }
  const auto types = fallback::infer_outputs(op, views, outputs);
  if (!types.ok()) throw std::invalid_argument(types.status().to_string());
  graph::Node node{next_name("node"), std::move(op), std::move(inputs), {}};
  for (const graph::ValueType& type : *types)
    node.outputs.push_back(model_.graph.add_value({next_name("value"), type.type, type.shape, {}}));
  model_.graph.nodes.push_back(node);
  return node.outputs;
}

void ModelBuilder::output(ValueId id) {
  model_.graph.outputs.push_back(id);
  model_.outputs.push_back(boundary(id));
}

void ModelBuilder::begin_partition(graph::PartitionKind kind) {
  model_.partitions.push_back({kind, static_cast<uint32_t>(model_.graph.nodes.size()), 0});
}

void ModelBuilder::set_hw_layout(Direction direction, size_t index, tensor::Layout layout) {
  graph::Boundary& boundary =
      direction == Direction::kInput ? model_.inputs[index] : model_.outputs[index];
  boundary.hw = tensor::make_hw_desc(boundary.cpu, boundary.hw->type, layout).value();
}

void ModelBuilder::set_hw_bytes(Direction direction, size_t index, DataType type,
                                const tensor::QuantParams& quant) {
  graph::Boundary& boundary =
      direction == Direction::kInput ? model_.inputs[index] : model_.outputs[index];
  boundary.hw = tensor::make_hw_desc(boundary.cpu, type).value();
  boundary.quant = quant;
}

void ModelBuilder::set_requantised(Direction direction, size_t index,
                                   const graph::BoundaryQuantisation& own) {
  const graph::BoundaryQuantisation view = graph::vendor_form(own);
  set_hw_bytes(direction, index, view.type, view.parameters);
  (direction == Direction::kInput ? model_.inputs : model_.outputs)[index].requantised =
      view != own;
}

std::shared_ptr<const graph::CompiledModel> ModelBuilder::build() const {
  auto model = std::make_shared<graph::CompiledModel>(model_);
  std::vector<graph::Partition>& partitions = model->partitions;
  if (partitions.empty()) partitions.emplace_back();
  auto end = static_cast<uint32_t>(model->graph.nodes.size());
  for (auto partition = partitions.rbegin(); partition != partitions.rend(); ++partition) {
    partition->count = end - partition->first;
    end = partition->first;
  }
  const graph::CpuValues on_cpu = graph::values_on_cpu(model->graph, partitions);
  for (graph::Boundary& input : model->inputs)
    if (on_cpu.read[input.value]) input.hw.reset();
  for (graph::Boundary& output : model->outputs)
    if (on_cpu.made[output.value]) output.hw.reset();
  const Status status = graph::validate(model->graph);
  if (!status.ok()) throw std::invalid_argument(status.to_string());
  return model;
}

}  // namespace millrace::device::cpu
