#include "tests/dynamic/networks.h"

#include <algorithm>
#include <utility>

namespace millrace::test {
namespace {

using tensor::DataType;

template <class T>
Tensor tensor_of(DataType type, graph::Dims shape, const std::vector<T>& elements) {
  const auto bytes = std::as_bytes(std::span(elements));
  return {type, std::move(shape), {bytes.begin(), bytes.end()}};
}

graph::Boundary boundary_of(const network::Input& value, bool is_open) {
  graph::Boundary boundary;
  std::vector<uint32_t> shape;
  for (const network::Dimension& dim : value.shape)
    shape.push_back(dim.size < 0 ? kOpenDimension : static_cast<uint32_t>(dim.size));
  boundary.cpu = tensor::make_cpu_desc(value.name, value.type, shape);
  boundary.open = is_open || std::ranges::count(shape, kOpenDimension) > 0;
  return boundary;
}

TensorShape shape_of(const graph::Dims& dims) {
  TensorShape shape;
  shape.rank = static_cast<uint32_t>(dims.size());
  std::ranges::transform(dims, shape.dims.begin(),
                         [](int64_t dim) { return static_cast<uint32_t>(dim); });
  return shape;
}

}  // namespace

network::Node node(std::string type, Inputs inputs, Inputs outputs,
                   std::vector<network::Attribute> attributes) {
  return {outputs[0],           "", std::move(type), std::move(inputs), std::move(outputs),
          std::move(attributes)};
}

network::Attribute attribute(std::string name, network::Attribute::Value value) {
  return {std::move(name), std::move(value)};
}

network::Attribute subgraph(std::string name, network::Network body) {
  return {std::move(name), std::make_shared<const network::Network>(std::move(body))};
}

network::Input input(std::string name, DataType type, graph::Dims shape) {
  network::Input made{std::move(name), type, true, {}};
  for (const int64_t dim : shape) made.shape.push_back({dim, ""});
  return made;
}

network::Output output(std::string name, DataType type) {
  return {std::move(name), type, false, {}};
}

network::Network network_of(std::vector<network::Input> inputs, std::vector<network::Node> nodes,
                            std::vector<network::Output> outputs) {
  network::Network made;
  made.opsets = {{"", 17}};
  made.inputs = std::move(inputs);
  made.nodes = std::move(nodes);
  made.outputs = std::move(outputs);
  return made;
}

network::Network body_of(std::vector<network::Input> inputs, std::vector<network::Node> nodes,
                         std::vector<network::Output> outputs, Inputs captures) {
  network::Network made = network_of(std::move(inputs), std::move(nodes), std::move(outputs));
  std::ranges::sort(captures);
  made.captures = std::move(captures);
  return made;
}

Tensor floats(graph::Dims shape, const std::vector<float>& elements) {
  return tensor_of(DataType::kFloat32, std::move(shape), elements);
}

Tensor int64s(graph::Dims shape, const std::vector<int64_t>& elements) {
  return tensor_of(DataType::kInt64, std::move(shape), elements);
}

Tensor boolean(bool element) {
  return {DataType::kBoolean, {}, {std::byte{element}}};
}

graph::Value constant(std::string name, const Tensor& tensor) {
  return {std::move(name), tensor.type, tensor.shape, graph::Constant::copy_of(tensor.bytes)};
}

graph::CompiledModel model_of(network::Network network) {
  graph::CompiledModel model;
  model.name = "dynamic";
  for (const network::Input& input : network.inputs)
    model.inputs.push_back(boundary_of(input, false));
  for (const network::Output& output : network.outputs)
    model.outputs.push_back(boundary_of(output, true));
  model.network = std::make_shared<const network::Network>(std::move(network));
  return model;
}

Runner::Runner(network::Network network)
    : device_(device::open_device("cpu", {.lanes = 1}).value()) {
  auto program = runtime::load_dynamic(
      *device_, std::make_shared<const graph::CompiledModel>(model_of(std::move(network))));
  loaded_ = program.status();
  if (!program.ok()) return;
  program_ = *program;
  context_ = program_->create_context().value();
}

Result<std::vector<Tensor>> Runner::run(std::vector<Tensor> inputs, size_t capacity) {
  return run_until(kNoDeadline, std::move(inputs), capacity);
}

Result<std::vector<Tensor>> Runner::run_until(Deadline deadline, std::vector<Tensor> inputs,
                                              size_t capacity) {
  std::vector<TensorShape> input_shapes;
  for (const Tensor& input : inputs) input_shapes.push_back(shape_of(input.shape));
  std::vector<device::Binding> bound_inputs, bound_outputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    bound_inputs.push_back(
        {inputs[i].bytes.data(), View::kCpu, inputs[i].bytes.size(), &input_shapes[i]});
  const auto& declared = program_->model().outputs;
  shapes_.assign(declared.size(), {});
  std::vector<std::vector<std::byte>> memory(declared.size(), std::vector<std::byte>(capacity));
  for (size_t i = 0; i < declared.size(); ++i)
    bound_outputs.push_back({memory[i].data(), View::kCpu, capacity, &shapes_[i]});
  queue::RunControl control;
  control.begin(1, 0, deadline);
  MILLRACE_RETURN_IF_ERROR(context_->run(bound_inputs, bound_outputs, control));
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < declared.size(); ++i) {
    Tensor output{declared[i].cpu.type, {}, std::move(memory[i])};
    size_t bytes = tensor::size_of(output.type);
    for (uint32_t d = 0; d < shapes_[i].rank; ++d) {
      output.shape.push_back(shapes_[i].dims[d]);
      bytes *= shapes_[i].dims[d];
    }
    output.bytes.resize(bytes);
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace millrace::test
