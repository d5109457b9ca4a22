#include "bench/queue/one_node_model.h"

#include "tensor/desc.h"

namespace millrace::bench {
namespace {

// The part of the protobuf encoding that this file needs, since the benchmarks do not link
// protobuf.
std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes += static_cast<char>(value);
}
std::string number(int field, uint64_t value) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(value);
}
std::string bytes(int field, const std::string& content) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(content.size()) + content;
}

// The field numbers below are those of onnx.proto.
std::string value_info(const char* name) {
  constexpr uint64_t kFloat = 1;
  const std::string dims =
      bytes(1, number(1, 1)) + bytes(1, number(1, kOneNodeElements));  // TensorShapeProto.dim
  const std::string tensor_type = number(1, kFloat) + bytes(2, dims);  // elem_type, shape
  return bytes(1, name) + bytes(2, bytes(1, tensor_type));             // name, type
}

}  // namespace

std::string one_node_onnx() {
  constexpr uint64_t kIrVersion = 8, kOpset = 13;
  const std::string node = bytes(1, kOneNodeInput) + bytes(2, kOneNodeOutput) + bytes(4, "Relu");
  const std::string graph = bytes(1, node) + bytes(2, "one_node") +
                            bytes(11, value_info(kOneNodeInput)) +
                            bytes(12, value_info(kOneNodeOutput));
  return number(1, kIrVersion) + bytes(7, graph) + bytes(8, number(2, kOpset));
}

graph::CompiledModel one_node_model() {
  constexpr auto kFloat = tensor::DataType::kFloat32;
  graph::CompiledModel model;
  model.name = "one_node";
  model.producer = "bench";
  graph::Graph& graph = model.graph;
  const graph::ValueId x = graph.add_value({kOneNodeInput, kFloat, {1, kOneNodeElements}, {}});
  const graph::ValueId y = graph.add_value({kOneNodeOutput, kFloat, {1, kOneNodeElements}, {}});
  graph.nodes.push_back({"relu", graph::Unary{graph::UnaryKind::kRelu, 0, 0}, {x}, {y}});
  graph.inputs = {x};
  graph.outputs = {y};
  const auto boundary = [](graph::ValueId id, const char* name) {
    graph::Boundary made;
    made.value = id;
    made.cpu = tensor::make_cpu_desc(name, kFloat, {1, kOneNodeElements});
    return made;
  };
  model.inputs = {boundary(x, kOneNodeInput)};
  model.outputs = {boundary(y, kOneNodeOutput)};
  model.partitions = {{graph::PartitionKind::kNpu, 0, 1}};
  return model;
}

}  // namespace millrace::bench
