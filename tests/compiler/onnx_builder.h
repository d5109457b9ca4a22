// Builds ONNX models in memory, tersely, and imports them.
#pragma once

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/input_shapes.h"
#include "compiler/onnx/network_reader.h"
#include "device/cpu/capabilities/capabilities.h"
#include "graph/graph.h"
#include "lowering/stage.h"

namespace millrace::compiler::test {

using graph::Dims;
using Floats = std::vector<float>;
using Names = std::vector<std::string>;
using ::onnx::TensorProto;

struct Attribute {
  Attribute(std::string name, int value) : name(std::move(name)), value(int64_t{value}) {}
  Attribute(std::string name, double value)
      : name(std::move(name)), value(static_cast<float>(value)) {}
  Attribute(std::string name, const char* value)
      : name(std::move(name)), value(std::string(value)) {}
  Attribute(std::string name, Dims value) : name(std::move(name)), value(std::move(value)) {}
  Attribute(std::string name, Floats value) : name(std::move(name)), value(std::move(value)) {}
  Attribute(std::string name, TensorProto value) : name(std::move(name)), value(std::move(value)) {}

  std::string name;
  std::variant<int64_t, float, std::string, Dims, Floats, TensorProto> value;
};
using Attributes = std::vector<Attribute>;

inline TensorProto tensor(const std::string& name, const Dims& dims, const Floats& elements) {
  TensorProto result;
  result.set_name(name);
  result.set_data_type(TensorProto::FLOAT);
  for (const int64_t dim : dims) result.add_dims(dim);
  for (const float element : elements) result.add_float_data(element);
  return result;
}

// INT64, unless `type` is another integer type that is stored in 32 bits (INT32, BOOL and so on).
inline TensorProto int_tensor(const std::string& name, const Dims& dims, const Dims& elements,
                              TensorProto::DataType type = TensorProto::INT64) {
  TensorProto result;
  result.set_name(name);
  result.set_data_type(type);
  for (const int64_t dim : dims) result.add_dims(dim);
  for (const int64_t element : elements) {
    if (type == TensorProto::INT64) {
      result.add_int64_data(element);
    } else {
      result.add_int32_data(static_cast<int32_t>(element));
    }
  }
  return result;
}

// The graph of a network whose shapes become static with the given ones.
inline Result<graph::Graph> lower(Result<network::Network> network,
                                  const InputShapes& input_shapes) {
  MILLRACE_RETURN_IF_ERROR(network.status());
  MILLRACE_RETURN_IF_ERROR(settle_inputs(input_shapes, *network));
  MILLRACE_ASSIGN_OR_RETURN(lowering::Stage stage,
                            lowering::lower_whole(*network, device::cpu::capabilities(), false));
  return std::move(stage.graph);
}

inline Result<graph::Graph> import_content(const std::string& content) {
  return lower(read_network(content, {}), {});
}

class Model {
 public:
  explicit Model(int opset = 13) {
    proto.set_ir_version(7);
    domain("", opset);
  }

  Model& domain(const std::string& name, int opset) {
    auto* entry = proto.add_opset_import();
    entry->set_domain(name);
    entry->set_version(opset);
    return *this;
  }

  // A dimension of -1 is left open.
  Model& input(const std::string& name, const Dims& dims, int type = TensorProto::FLOAT) {
    auto* tensor = declare(proto.mutable_graph()->add_input(), name, type);
    for (const int64_t dim : dims) {
      auto* entry = tensor->mutable_shape()->add_dim();
      if (dim >= 0) entry->set_dim_value(dim);
    }
    if (dims.empty()) tensor->mutable_shape();
    return *this;
  }

  // Dimensions as text: numbers and symbols.
  Model& symbolic_input(const std::string& name, const Names& dims) {
    auto* tensor = declare(proto.mutable_graph()->add_input(), name, TensorProto::FLOAT);
    for (const std::string& dim : dims) {
      auto* entry = tensor->mutable_shape()->add_dim();
      if (dim[0] >= '0' && dim[0] <= '9') {
        entry->set_dim_value(std::stoll(dim));
      } else {
        entry->set_dim_param(dim);
      }
    }
    return *this;
  }

  Model& output(const std::string& name, int type = TensorProto::UNDEFINED) {
    declare(proto.mutable_graph()->add_output(), name, type);
    return *this;
  }

  Model& constant(TensorProto tensor) {
    *proto.mutable_graph()->add_initializer() = std::move(tensor);
    return *this;
  }
  Model& floats(const std::string& name, const Dims& dims, const Floats& elements) {
    return constant(tensor(name, dims, elements));
  }
  Model& ints(const std::string& name, const Dims& elements) {
    return constant(int_tensor(name, {static_cast<int64_t>(elements.size())}, elements));
  }

  Model& node(const std::string& type, const Names& inputs, const Names& outputs,
              const Attributes& attributes = {}) {
    auto* node = proto.mutable_graph()->add_node();
    node->set_op_type(type);
    node->set_name(outputs.empty() ? type : outputs[0] + "_node");
    for (const std::string& input : inputs) node->add_input(input);
    for (const std::string& output : outputs) node->add_output(output);
    for (const Attribute& attribute : attributes) set(node->add_attribute(), attribute);
    return *this;
  }

  std::string bytes() const { return proto.SerializeAsString(); }
  Result<graph::Graph> import(const InputShapes& input_shapes = {}) const {
    return lower(read_network(bytes(), {}), input_shapes);
  }

  ::onnx::ModelProto proto;

 private:
  static ::onnx::TypeProto::Tensor* declare(::onnx::ValueInfoProto* value, const std::string& name,
                                            int type) {
    value->set_name(name);
    auto* tensor = value->mutable_type()->mutable_tensor_type();
    if (type != TensorProto::UNDEFINED) tensor->set_elem_type(type);
    return tensor;
  }

  static void set(::onnx::AttributeProto* out, const Attribute& attribute) {
    using Proto = ::onnx::AttributeProto;
    out->set_name(attribute.name);
    if (const auto* i = std::get_if<int64_t>(&attribute.value)) {
      out->set_type(Proto::INT);
      out->set_i(*i);
    } else if (const auto* f = std::get_if<float>(&attribute.value)) {
      out->set_type(Proto::FLOAT);
      out->set_f(*f);
    } else if (const auto* s = std::get_if<std::string>(&attribute.value)) {
      out->set_type(Proto::STRING);
      out->set_s(*s);
    } else if (const auto* ints = std::get_if<Dims>(&attribute.value)) {
      out->set_type(Proto::INTS);
      for (const int64_t element : *ints) out->add_ints(element);
    } else if (const auto* floats = std::get_if<Floats>(&attribute.value)) {
      out->set_type(Proto::FLOATS);
      for (const float element : *floats) out->add_floats(element);
    } else {
      out->set_type(Proto::TENSOR);
      *out->mutable_t() = std::get<TensorProto>(attribute.value);
    }
  }
};

// The graph of a model that must import, checked.
inline graph::Graph import_valid(const Model& model) {
  const Result<graph::Graph> graph = model.import();
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  if (!graph.ok()) return {};
  EXPECT_TRUE(graph::validate(*graph).ok()) << graph::validate(*graph).to_string();
  return *graph;
}

// The first output of a graph.
inline const graph::Value& output_of(const graph::Graph& graph) {
  return graph.values[graph.outputs[0]];
}

// The operators of a graph, in order.
inline std::vector<graph::Operator> operators_of(const graph::Graph& graph) {
  std::vector<graph::Operator> result;
  for (const graph::Node& node : graph.nodes) result.push_back(node.op);
  return result;
}

// Imports `model` whose output "y" depends on constants only, and returns what it was computed to;
// a value without a constant where it was not.
inline graph::Value computed(Model model) {
  model.input("unused", {1}).output("y");
  const graph::Graph graph = import_valid(model);
  if (graph.nodes.size() != 1 || graph.nodes[0].op != graph::Operator(graph::Unary{})) {
    ADD_FAILURE() << "not computed";
    return {};
  }
  return graph.values[graph.nodes[0].inputs[0]];
}

// The elements of a computed value, and its shape, for comparison in one expectation.
template <class T>
std::pair<Dims, std::vector<T>> content(const graph::Value& value) {
  if (!value.constant) return {};
  const auto elements = value.constant->as<T>();
  return {value.shape, {elements.begin(), elements.end()}};
}
template <class T>
std::pair<Dims, std::vector<T>> content(Dims shape, std::vector<T> elements) {
  return {std::move(shape), std::move(elements)};
}

// The failure of a model that must not import.
inline Status import_failure(const Model& model, const InputShapes& input_shapes = {}) {
  const Result<graph::Graph> graph = model.import(input_shapes);
  EXPECT_FALSE(graph.ok());
  return graph.status();
}

}  // namespace millrace::compiler::test
