#include "lowering/operators/early_opsets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "graph/shape.h"
#include "lowering/node_facts.h"
#include "lowering/operators/node_import.h"

namespace millrace::lowering {
namespace {

constexpr std::array<std::string_view, 11> kBroadcasting = {
    "Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"};

int64_t integer_attribute(const network::Node& node, std::string_view name, int64_t absent) {
  for (const network::Attribute& attribute : node.attributes) {
    const auto* value = std::get_if<int64_t>(&attribute.value);
    if (attribute.name == name && value != nullptr) return *value;
  }
  return absent;
}

// Appends dimensions of 1 to `shape`, so that its first dimension aligns with dimension `axis` of a
// tensor of rank `rank`.
Result<graph::Dims> with_first_at(graph::Dims shape, int64_t axis, size_t rank) {
  MILLRACE_ASSIGN_OR_RETURN(const size_t first, normalise_axis(axis, rank));
  if (first + shape.size() > rank) {
    return invalid_argument(
        fmt::format("its second operand {} does not fit at axis {} of a tensor of rank {}",
                    graph::to_string(shape), axis, rank));
  }
  shape.resize(rank - first, 1);
  return shape;
}

// Returns the shape of the second operand that aligns it with the first by numpy's rules; its own
// shape if it aligns already.
Result<graph::Dims> aligned_shape(const network::Node& node, const graph::Dims& first,
                                  const graph::Dims& second) {
  if (node.type == "PRelu")
    return second.size() == 1 && first.size() > 1 ? with_first_at(second, 1, first.size())
                                                  : Result<graph::Dims>(second);
  if (std::ranges::find(kBroadcasting, node.type) == kBroadcasting.end()) return second;
  const bool broadcasts = integer_attribute(node, "broadcast", 0) != 0;
  const bool states_axis = std::ranges::any_of(
      node.attributes, [](const auto& attribute) { return attribute.name == "axis"; });
  if (!broadcasts || !states_axis) return second;
  return with_first_at(second, integer_attribute(node, "axis", 0), first.size());
}

}  // namespace

Status align_operands(GraphBuilder& builder, const network::Node& node, int opset,
                      std::vector<graph::ValueId>& operands) {
  const bool both = operands.size() == 2 && operands[0] != kNoValue && operands[1] != kNoValue;
  if (!node.domain.empty() || opset >= kNumpyBroadcast || !both) return {};
  const graph::Dims shape = builder.value(operands[1]).shape;
  MILLRACE_ASSIGN_OR_RETURN(graph::Dims aligned,
                            aligned_shape(node, builder.value(operands[0]).shape, shape));
  if (aligned == shape) return {};
  MILLRACE_ASSIGN_OR_RETURN(
      operands[1],
      builder.emit(name_of(node) + "/aligned", graph::Reshape{std::move(aligned)}, {operands[1]}));
  return {};
}

bool is_early_attribute(std::string_view name, int opset) {
  if (opset >= kNumpyBroadcast) return false;
  return name == "broadcast" || name == "consumed_inputs" || name == "axis";
}

}  // namespace millrace::lowering
