#include "lowering/fallback_import.h"

#include <fmt/format.h>

#include <algorithm>

#include "fallback/attribute_list.h"
#include "fallback/earlier_sets.h"
#include "fallback/operator_table.h"
#include "lowering/operators/early_opsets.h"

namespace millrace::lowering {
namespace {

Result<graph::Attribute::Value> read_value(const network::Attribute& attribute) {
  using graph::Attribute;
  return std::visit(
      [&](const auto& value) -> Result<Attribute::Value> {
        if constexpr (std::is_constructible_v<Attribute::Value, decltype(value)>) {
          return Attribute::Value(value);
        } else if constexpr (std::is_same_v<decltype(value), const graph::Value&>) {
          if (value.constant) return fallback::attribute_list(value);
          return unsupported(value.name);  // why the tensor could not be read
        } else {
          return unsupported(fmt::format("its attribute '{}' is a graph", attribute.name));
        }
      },
      attribute.value);
}

bool has_attribute(std::string_view op, std::string_view name) {
  const auto attributes = fallback::find_operator(op)->attributes;
  return std::ranges::find(attributes, name, [](const fallback::AttributeSpec& attribute) {
           return std::string_view(attribute.name);
         }) != attributes.end();
}

}  // namespace

std::string fallback_name(const network::Node& node) {
  // AMD's quantiser has its own names for these operators of the standard.
  if (node.domain == "com.amd.quark" || node.domain == "com.vai.quantize") {
    for (const auto name : {"InstanceNormalization", "LSTM"})
      if (node.type == std::string("Extended") + name || node.type == std::string("Vitis") + name)
        return name;
  }
  return node.domain.empty() ? node.type : node.domain + "." + node.type;
}

bool has_fallback(const network::Node& node, int opset) {
  const fallback::OperatorSpec* spec = fallback::find_operator(fallback_name(node));
  return spec != nullptr && spec->since <= opset;
}

Result<graph::Fallback> read_fallback(const network::Node& node, int opset) {
  graph::Fallback op{fallback_name(node), {}};
  for (const network::Attribute& attribute : node.attributes) {
    if (is_early_attribute(attribute.name, opset) && !has_attribute(op.name, attribute.name))
      continue;
    MILLRACE_ASSIGN_OR_RETURN(graph::Attribute::Value value, read_value(attribute));
    op.attributes.push_back({attribute.name, std::move(value)});
  }
  std::ranges::sort(op.attributes, {}, &graph::Attribute::name);
  fallback::state_earlier_defaults(op, opset);
  return op;
}

}  // namespace millrace::lowering
