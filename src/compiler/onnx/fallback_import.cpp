#include "compiler/onnx/fallback_import.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/onnx/early_opsets.h"
#include "fallback/operator_table.h"

namespace millrace::compiler {
namespace {

using ::onnx::AttributeProto;

std::string qualified_name(const ::onnx::NodeProto& node) {
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  return standard ? node.op_type() : node.domain() + "." + node.op_type();
}

// Models of the first versions leave the kind of an attribute out; those have no fallback.
Result<graph::Attribute::Value> read_value(const AttributeProto& attribute) {
  switch (attribute.type()) {
    case AttributeProto::INT:
      return graph::Attribute::Value(attribute.i());
    case AttributeProto::FLOAT:
      return graph::Attribute::Value(attribute.f());
    case AttributeProto::STRING:
      return graph::Attribute::Value(attribute.s());
    case AttributeProto::INTS:
      return graph::Attribute::Value(graph::Dims(attribute.ints().begin(), attribute.ints().end()));
    case AttributeProto::FLOATS:
      return graph::Attribute::Value(
          std::vector<float>(attribute.floats().begin(), attribute.floats().end()));
    case AttributeProto::STRINGS:
      return graph::Attribute::Value(
          std::vector<std::string>(attribute.strings().begin(), attribute.strings().end()));
    default:
      return unsupported(fmt::format("its attribute '{}' is of kind {}", attribute.name(),
                                     AttributeProto::AttributeType_Name(attribute.type())));
  }
}

bool has_attribute(std::string_view op, std::string_view name) {
  const auto attributes = fallback::find_operator(op)->attributes;
  return std::ranges::find(attributes, name, [](const fallback::AttributeSpec& attribute) {
           return std::string_view(attribute.name);
         }) != attributes.end();
}

}  // namespace

bool has_fallback(const ::onnx::NodeProto& node, int opset) {
  const fallback::OperatorSpec* spec = fallback::find_operator(qualified_name(node));
  return spec != nullptr && spec->since <= opset;
}

Result<graph::Fallback> read_fallback(const ::onnx::NodeProto& node, int opset) {
  graph::Fallback op{qualified_name(node), {}};
  for (const AttributeProto& attribute : node.attribute()) {
    if (is_early_attribute(attribute.name(), opset) && !has_attribute(op.name, attribute.name()))
      continue;
    MILLRACE_ASSIGN_OR_RETURN(graph::Attribute::Value value, read_value(attribute));
    op.attributes.push_back({attribute.name(), std::move(value)});
  }
  std::ranges::sort(op.attributes, {}, &graph::Attribute::name);
  return op;
}

}  // namespace millrace::compiler
