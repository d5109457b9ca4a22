#include "cli/conformance/model_facts.h"

#include <map>

#include "compiler/onnx/model_file.h"

namespace millrace::cli {
namespace {

using Opsets = std::map<std::string, int64_t>;  // by domain

std::string domain_name(const std::string& domain) {
  return domain.empty() ? "ai.onnx" : domain;
}

template <class Imports>
Opsets opsets_of(const Imports& imports) {
  Opsets opsets;
  for (const auto& import : imports) opsets[domain_name(import.domain())] = import.version();
  return opsets;
}

class OperatorCollector {
 public:
  explicit OperatorCollector(std::set<OperatorUse>& operators) : operators_(operators) {}

  template <class Nodes>
  void collect(const Nodes& nodes, const Opsets& opsets) {
    for (const ::onnx::NodeProto& node : nodes) {
      const std::string domain = domain_name(node.domain());
      const auto opset = opsets.find(domain);
      operators_.insert({domain, node.op_type(), opset == opsets.end() ? 0 : opset->second});
      for (const ::onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g()) collect(attribute.g().node(), opsets);
        for (const ::onnx::GraphProto& graph : attribute.graphs()) collect(graph.node(), opsets);
      }
    }
  }

 private:
  std::set<OperatorUse>& operators_;
};

DeclaredTensor declared(const ::onnx::ValueInfoProto& value) {
  return {value.name(), value.type().tensor_type().elem_type()};
}

}  // namespace

Result<ModelFacts> read_model_facts(const std::string& path) {
  ::onnx::ModelProto model;
  const Result<size_t> bytes = compiler::read_model_file(path, &model);
  if (!bytes.ok()) return bytes.status().with_context(path);
  std::set<std::string> initializers;
  for (const auto& tensor : model.graph().initializer()) initializers.insert(tensor.name());
  ModelFacts facts;
  for (const auto& input : model.graph().input())
    if (!initializers.contains(input.name())) facts.inputs.push_back(declared(input));
  for (const auto& output : model.graph().output()) facts.outputs.push_back(declared(output));
  OperatorCollector collector(facts.operators);
  collector.collect(model.graph().node(), opsets_of(model.opset_import()));
  for (const auto& function : model.functions())
    collector.collect(function.node(), opsets_of(function.opset_import()));
  return facts;
}

}  // namespace millrace::cli
