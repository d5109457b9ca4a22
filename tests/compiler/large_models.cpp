#include "tests/compiler/large_models.h"

#include <onnx/onnx_pb.h>

#include <fstream>
#include <memory>
#include <utility>

#include "compiler/compiler.h"
#include "graph/archive/codec.h"
#include "model/archive.h"
#include "model/archive_writer.h"

namespace millrace::compiler::test {
namespace {

using ::onnx::GraphProto;
using ::onnx::TensorProto;
using Names = std::vector<std::string>;

std::string numbered(const char* name, size_t number) {
  return name + std::to_string(number);
}

void declare(::onnx::ValueInfoProto* value, const std::string& name, bool with_shape,
             int type = TensorProto::FLOAT) {
  value->set_name(name);
  auto* tensor = value->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  if (with_shape) tensor->mutable_shape()->add_dim()->set_dim_value(4);
}

::onnx::NodeProto* add_node(GraphProto& graph, const char* type, const Names& inputs,
                            const std::string& output) {
  auto* node = graph.add_node();
  node->set_name("layer/" + output);
  node->set_op_type(type);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

void add_constant(GraphProto& graph, const std::string& name, float number) {
  auto* tensor = graph.add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(TensorProto::FLOAT);
  tensor->add_dims(4);
  for (int i = 0; i < 4; ++i) tensor->add_float_data(number);
}

// Makes a model with the input "x" and the output "y", whose nodes `fill` adds.
template <class Fill>
std::string model(const Fill& fill, bool with_boundary = true) {
  ::onnx::ModelProto proto;
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(17);
  GraphProto& graph = *proto.mutable_graph();
  if (with_boundary) {
    declare(graph.add_input(), "x", true);
    declare(graph.add_output(), "y", false);
  }
  fill(graph);
  return proto.SerializeAsString();
}

// Makes a chain of nodes, of these types in turn.
std::string chain(const Names& types, size_t nodes) {
  return model([&](GraphProto& graph) {
    std::string last = "x";
    for (size_t i = 0; i < nodes; ++i) {
      const std::string next = i + 1 == nodes ? "y" : numbered("v", i);
      add_node(graph, types[i % types.size()].c_str(), {last}, next);
      last = next;
    }
  });
}

// Makes nodes that no pass merges.
std::string mixed_chain(size_t nodes) {
  return chain({"Tanh", "Exp", "Sin", "Sigmoid"}, nodes);
}

// All values are in use at the same time.
std::string fan(size_t nodes) {
  return model([&](GraphProto& graph) {
    Names made;
    for (size_t i = 0; i < nodes; ++i) {
      made.push_back(numbered("v", i));
      add_node(graph, "Tanh", {"x"}, made.back());
    }
    auto* axis = add_node(graph, "Concat", made, "y")->add_attribute();
    axis->set_name("axis");
    axis->set_type(::onnx::AttributeProto::INT);
  });
}

// Each node reads the sixteen values before it.
std::string edges(size_t count) {
  constexpr size_t kReads = 16;
  return model([&](GraphProto& graph) {
    const size_t nodes = count / kReads;
    for (size_t i = 0; i < nodes; ++i) {
      Names inputs;
      for (size_t k = 0; k < kReads; ++k) inputs.push_back(k < i ? numbered("v", i - k - 1) : "x");
      add_node(graph, "Max", inputs, i + 1 == nodes ? "y" : numbered("v", i));
    }
  });
}

std::string tensors(size_t count) {
  return model([&](GraphProto& graph) {
    std::string last = "x";
    for (size_t i = 0; i < count; ++i) {
      add_constant(graph, numbered("c", i), static_cast<float>(i % 7));
      const std::string next = i + 1 == count ? "y" : numbered("v", i);
      add_node(graph, i % 2 == 0 ? "Pow" : "Max", {last, numbered("c", i)}, next);
      last = next;
    }
  });
}

std::string attributes(size_t count) {
  return attributes_of_one_node(count);
}

}  // namespace

std::string relu_chain(size_t nodes) {
  return chain({"Relu"}, nodes);
}

std::string identity_chain(size_t nodes) {
  return model([&](GraphProto& graph) {
    std::string last = "x";
    for (size_t i = 0; i < nodes; ++i) {
      add_node(graph, "Identity", {last}, numbered("v", i));
      last = numbered("v", i);
    }
    add_node(graph, "Tanh", {last}, "y");
  });
}

std::string attributes_of_one_node(size_t count) {
  return model([&](GraphProto& graph) {
    auto* node = add_node(graph, "Relu", {"x"}, "y");
    for (size_t i = 0; i < count; ++i) {
      auto* attribute = node->add_attribute();
      attribute->set_name(numbered("attribute", i));
      attribute->set_type(::onnx::AttributeProto::INT);
    }
  });
}

std::string many_inputs(size_t count) {
  return model(
      [&](GraphProto& graph) {
        Names inputs;
        for (size_t i = 0; i < count; ++i) {
          inputs.push_back(numbered("i", i));
          declare(graph.add_input(), inputs.back(), true);
        }
        declare(graph.add_output(), "y", false);
        add_node(graph, "Max", inputs, "y");
      },
      false);
}

std::string many_outputs(size_t count) {
  return model(
      [&](GraphProto& graph) {
        declare(graph.add_input(), "x", true);
        for (size_t i = 0; i < count; ++i) {
          declare(graph.add_output(), numbered("o", i), false);
          add_node(graph, "Tanh", {"x"}, numbered("o", i));
        }
      },
      false);
}

std::string nested_ifs(size_t depth) {
  return model([&](GraphProto& graph) {
    auto* condition = graph.add_input();
    declare(condition, "condition", false, TensorProto::BOOL);
    condition->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(1);
    GraphProto* around = &graph;
    std::string output = "y";
    for (size_t i = 0; i < depth; ++i) {
      auto* node = add_node(*around, "If", {"condition"}, output);
      output = numbered("b", i);
      GraphProto* deeper = nullptr;
      for (const char* name : {"else_branch", "then_branch"}) {
        auto* attribute = node->add_attribute();
        attribute->set_name(name);
        attribute->set_type(::onnx::AttributeProto::GRAPH);
        deeper = attribute->mutable_g();
        deeper->set_name(name);
        const bool goes_on = name[0] == 't';
        declare(deeper->add_output(), goes_on ? output : output + "e", false);
        if (!goes_on) add_node(*deeper, "Abs", {"x"}, output + "e");
      }
      around = deeper;
    }
    add_node(*around, "Neg", {"x"}, output);
  });
}

std::vector<LargeModel> large_models() {
  return {{"ReluChain", "nodes that become one", relu_chain},
          {"IdentityChain", "nodes that become none", identity_chain},
          {"MixedChain", "nodes", mixed_chain},
          {"Fan", "values that are needed at the same time", fan},
          {"Edges", "edges", edges},
          {"Tensors", "tensors", tensors},
          {"Attributes", "attributes of a node", attributes},
          {"Inputs", "inputs", many_inputs},
          {"Outputs", "outputs", many_outputs}};
}

Status compile_and_decode(const std::string& content, const std::string& path) {
  std::ofstream(path, std::ios::binary) << content;
  MILLRACE_ASSIGN_OR_RETURN(const graph::CompiledModel model, compile(path, {}));
  auto bytes =
      std::make_shared<const std::vector<std::byte>>(model::archive_bytes(graph::encode(model)));
  MILLRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const model::Archive> archive,
                            model::Archive::from_memory(*bytes, bytes));
  return graph::decode(archive).status();
}

}  // namespace millrace::compiler::test
