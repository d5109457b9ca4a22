#include "tests/support/tiny_model.h"

#include "graph/archive/codec.h"

namespace millrace::test {

graph::ValueId tiny_unary(graph::Graph& graph, const std::string& name, graph::UnaryKind kind,
                          graph::ValueId x) {
  const graph::Value like = graph.values[x];
  const graph::ValueId y = graph.add_value({name, like.type, like.shape, {}});
  graph.nodes.push_back({name + "_node", graph::Unary{{kind, 0, 0}}, {x}, {y}});
  return y;
}

std::vector<float> tiny_numbers(size_t count, int seed) {
  std::vector<float> numbers(count);
  for (size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<float>((static_cast<int>(i) * 7 + seed * 5) % 17 - 8) / 8.0f;
  return numbers;
}

graph::Boundary tiny_boundary(const graph::Graph& graph, graph::ValueId id,
                              const TinyModelOptions& options) {
  const graph::Value& value = graph.values[id];
  graph::Boundary boundary;
  boundary.value = id;
  boundary.cpu = tensor::make_cpu_desc(
      value.name, value.type, std::vector<uint32_t>(value.shape.begin(), value.shape.end()));
  if (options.hw_views)
    boundary.hw =
        tensor::make_hw_desc(boundary.cpu, graph::storage_type(options.precision)).value();
  return boundary;
}

graph::CompiledModel tiny_model(const TinyModelOptions& options) {
  constexpr int64_t kIn = kTinyInputChannels, kOut = kTinyOutputChannels, kSide = kTinySide;
  constexpr auto kFloat = tensor::DataType::kFloat32;
  graph::CompiledModel model;
  model.name = "tiny";
  model.producer = "tests";
  model.precision = options.precision;
  model.batch_size = options.batch_size;

  graph::Graph& graph = model.graph;
  const graph::ValueId input = graph.add_value({kTinyInput, kFloat, {1, kIn, kSide, kSide}, {}});
  const graph::ValueId weight = graph.add_constant(
      "weight", kFloat, {kOut, kIn, 3, 3}, graph::Constant::of(tiny_numbers(kOut * kIn * 9, 1)));
  const graph::ValueId bias =
      graph.add_constant("bias", kFloat, {kOut}, graph::Constant::of(tiny_numbers(kOut, 2)));
  graph::ValueId output = graph.add_value({kTinyOutput, kFloat, {1, kOut, kSide, kSide}, {}});

  graph::Conv conv;
  conv.strides = conv.dilations = conv.pads_begin = conv.pads_end = {1, 1};
  conv.activation.kind = graph::UnaryKind::kRelu;
  graph.nodes.push_back({"conv", conv, {input, weight, bias}, {output}});
  model.partitions = {{graph::PartitionKind::kNpu, 0, 1}};
  if (options.cpu_partition) {
    graph.values[output].name = "conv.out";
    output = tiny_unary(graph, "abs", graph::UnaryKind::kAbs, output);
    output = tiny_unary(graph, kTinyOutput, graph::UnaryKind::kRelu, output);
    model.partitions.push_back({graph::PartitionKind::kCpu, 1, 1});
    model.partitions.push_back({graph::PartitionKind::kNpu, 2, 1});
  }
  graph.inputs = {input};
  graph.outputs = {output};

  model.inputs = {tiny_boundary(graph, input, options)};
  model.outputs = {tiny_boundary(graph, output, options)};
  return model;
}

std::vector<float> tiny_reference(const std::vector<float>& x) {
  constexpr int kIn = kTinyInputChannels, kOut = kTinyOutputChannels, kSide = kTinySide;
  const std::vector<float> weight = tiny_numbers(kOut * kIn * 9, 1);
  const std::vector<float> bias = tiny_numbers(kOut, 2);
  std::vector<float> y;
  for (int m = 0; m < kOut; ++m) {
    for (int at = 0; at < kSide * kSide; ++at) {
      float sum = bias[m];
      for (int tap = 0; tap < kIn * 9; ++tap) {
        const int row = at / kSide + tap % 9 / 3 - 1;
        const int column = at % kSide + tap % 3 - 1;
        if (row < 0 || row >= kSide || column < 0 || column >= kSide) continue;
        sum += weight[m * kIn * 9 + tap] * x[(tap / 9 * kSide + row) * kSide + column];
      }
      y.push_back(sum > 0 ? sum : 0);
    }
  }
  return y;
}

Status write_tiny_model(const std::string& path, const TinyModelOptions& options,
                        model::ArchiveForm form) {
  const graph::CompiledModel model = tiny_model(options);
  return model::write_archive(graph::encode(model), path, form);
}

}  // namespace millrace::test
