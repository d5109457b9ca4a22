#include "tests/support/relu_model.h"

namespace millrace::test {

graph::CompiledModel relu_model(const std::vector<std::pair<std::string, graph::Dims>>& inputs,
                                uint32_t batch_size) {
  constexpr auto kFloat = tensor::DataType::kFloat32;
  graph::CompiledModel model;
  model.name = "relu";
  model.producer = "tests";
  model.batch_size = batch_size;
  graph::Graph& graph = model.graph;
  for (const auto& [name, shape] : inputs) {
    const graph::ValueId input = graph.add_value({name, kFloat, shape, {}});
    const graph::ValueId output = graph.add_value({"positive_" + name, kFloat, shape, {}});
    graph::Unary relu;
    relu.function.kind = graph::UnaryKind::kRelu;
    graph.nodes.push_back({"relu_" + name, relu, {input}, {output}});
    graph.inputs.push_back(input);
    graph.outputs.push_back(output);
    model.inputs.push_back(tiny_boundary(graph, input, {}));
    model.outputs.push_back(tiny_boundary(graph, output, {}));
  }
  model.partitions = {{graph::PartitionKind::kNpu, 0, static_cast<uint32_t>(inputs.size())}};
  return model;
}

graph::CompiledModel pair_model(uint32_t batch_size) {
  return relu_model({{"values", {1, 6}}, {"image", {1, 3, 4, 4}}}, batch_size);
}

}  // namespace millrace::test
