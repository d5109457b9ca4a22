#include "tests/e2e/seeded/seeded_model.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "io/file.h"

namespace millrace::test {
namespace {

using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using Dims = std::vector<int64_t>;

uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char character : text)
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
  return hash;
}

uint64_t split_mix(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

struct Range {
  double low, high;
};

std::vector<float> numbers(std::string_view name, const Dims& dims, Range range) {
  size_t elements = 1;
  for (const int64_t dim : dims) elements *= static_cast<size_t>(dim);
  uint64_t state = fnv1a(name);
  std::vector<float> result(elements);
  for (float& element : result) {
    const double part = static_cast<double>(split_mix(state) >> 40) / (1 << 24);
    element = static_cast<float>(range.low + (range.high - range.low) * part);
  }
  return result;
}

// Whether the value scales channels, directly or once it has the rank of what it scales.
bool is_scale(const GraphProto& graph, const std::string& name) {
  for (const NodeProto& node : graph.node()) {
    for (int i = 0; i < node.input_size(); ++i) {
      if (node.input(i) != name) continue;
      if (node.op_type() == "BatchNormalization") return i == 1 || i == 4;
      if (node.op_type() == "Unsqueeze") return is_scale(graph, node.output(0));
      return node.op_type() == "Mul";
    }
  }
  return false;
}

Range range_of(const GraphProto& graph, const std::string& name, const Dims& dims) {
  if (dims.size() < 2) return is_scale(graph, name) ? Range{0.75, 1.25} : Range{-0.1, 0.1};
  double inputs = 1;
  for (size_t i = 1; i < dims.size(); ++i) inputs *= static_cast<double>(dims[i]);
  const double bound = std::sqrt(6 / inputs);
  return {-bound, bound};
}

// Takes name and shape by value, since they may be those of the tensor.
void fill(const GraphProto& graph, std::string name, Dims dims, TensorProto* tensor) {
  const std::vector<float> elements = numbers(name, dims, range_of(graph, name, dims));
  tensor->Clear();
  tensor->set_name(std::move(name));
  tensor->set_data_type(TensorProto::FLOAT);
  tensor->mutable_dims()->Assign(dims.begin(), dims.end());
  tensor->set_raw_data(elements.data(), elements.size() * sizeof(float));
}

Dims elements_of(const TensorProto& tensor) {
  if (!tensor.has_raw_data()) return {tensor.int64_data().begin(), tensor.int64_data().end()};
  Dims elements(tensor.raw_data().size() / sizeof(int64_t));
  std::copy_n(tensor.raw_data().data(), elements.size() * sizeof(int64_t),
              reinterpret_cast<char*>(elements.data()));
  return elements;
}

void fill_weights(GraphProto& graph) {
  std::map<std::string, Dims> shapes;  // the elements of constants
  for (TensorProto& tensor : *graph.mutable_initializer()) {
    if (tensor.data_type() == TensorProto::INT64)
      shapes.emplace(tensor.name(), elements_of(tensor));
    if (tensor.data_type() == TensorProto::FLOAT)
      fill(graph, tensor.name(), {tensor.dims().begin(), tensor.dims().end()}, &tensor);
  }
  for (NodeProto& node : *graph.mutable_node()) {
    if (node.op_type() != "ConstantOfShape") continue;
    Dims dims = shapes.at(node.input(0));
    node.set_op_type("Constant");
    node.clear_input();
    node.clear_attribute();
    ::onnx::AttributeProto* value = node.add_attribute();
    value->set_name("value");
    value->set_type(::onnx::AttributeProto::TENSOR);
    fill(graph, node.output(0), std::move(dims), value->mutable_t());
  }
}

void leave_out_softmax(GraphProto& graph) {
  const NodeProto last = *graph.node().rbegin();
  if (last.op_type() != "Softmax") return;
  graph.mutable_node()->RemoveLast();
  graph.mutable_output(0)->set_name(last.input(0));
}

Result<std::vector<float>> make_input(const GraphProto& graph) {
  for (const auto& input : graph.input()) {
    const bool is_constant = std::ranges::any_of(
        graph.initializer(), [&](const TensorProto& t) { return t.name() == input.name(); });
    if (is_constant) continue;
    Dims dims;
    for (const auto& dim : input.type().tensor_type().shape().dim())
      dims.push_back(dim.dim_value());
    return numbers(input.name(), dims, {-1, 1});
  }
  return invalid_argument("the model has no input");
}

}  // namespace

Result<SeededModel> seed_model(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> file, io::read_file(path));
  ::onnx::ModelProto model;
  if (!model.ParseFromArray(file.data(), static_cast<int>(file.size())))
    return corrupt_data(path + " is not an ONNX model");
  fill_weights(*model.mutable_graph());
  leave_out_softmax(*model.mutable_graph());
  MILLRACE_ASSIGN_OR_RETURN(std::vector<float> input, make_input(model.graph()));
  return SeededModel{model.SerializeAsString(), std::move(input)};
}

}  // namespace millrace::test
