// Operators of the standard that the graph has taken over as they are.
#include <string_view>

#include "compiler/export/operator_writers.h"

namespace millrace::compiler {
namespace {

// "com.microsoft" of "com.microsoft.Gelu", empty of "GatherND".
std::string_view domain_of(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? "" : name.substr(0, dot);
}

std::string_view type_of(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

}  // namespace

Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Fallback& op) {
  std::vector<std::string> operands, outputs;
  for (const graph::ValueId id : node.inputs) operands.push_back(model.stored(id));
  for (const graph::ValueId id : node.outputs) outputs.push_back(model.stored(id));
  ProtoAttributes attributes;
  for (const graph::Attribute& attribute : op.attributes)
    attributes.push_back({attribute.name, attribute.value});
  model.add(domain_of(op.name), type_of(op.name), std::move(operands), outputs, attributes);
  return std::string();
}

}  // namespace millrace::compiler
