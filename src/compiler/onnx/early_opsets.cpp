#include "compiler/onnx/early_opsets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/onnx/node_import.h"
#include "graph/shape.h"

namespace millrace::compiler {
namespace {

constexpr std::array<std::string_view, 11> kBroadcasting = {
    "Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"};

int64_t integer_attribute(const ::onnx::NodeProto& node, std::string_view name, int64_t absent) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return attribute.i();
  return absent;
}

// `shape` with dimensions of 1 behind it, so that its first is dimension `axis` of `rank`.
Result<graph::Dims> with_first_at(graph::Dims shape, int64_t axis, size_t rank) {
  MILLRACE_ASSIGN_OR_RETURN(const size_t first, normalise_axis(axis, rank));
  if (first + shape.size() > rank) {
    return invalid_argument(
        fmt::format("its second operand {} does not fit from axis {} of rank {}",
                    graph::to_string(shape), axis, rank));
  }
  shape.resize(rank - first, 1);
  return shape;
}

// Nothing changes where the shapes stand as numpy expects them.
Result<graph::Dims> aligned_shape(const ::onnx::NodeProto& node, const graph::Dims& first,
                                  const graph::Dims& second) {
  if (node.op_type() == "PRelu")
    return second.size() == 1 && first.size() > 1 ? with_first_at(second, 1, first.size())
                                                  : Result<graph::Dims>(second);
  if (std::ranges::find(kBroadcasting, node.op_type()) == kBroadcasting.end()) return second;
  const bool broadcasts = integer_attribute(node, "broadcast", 0) != 0;
  const bool states_axis = std::ranges::any_of(
      node.attribute(), [](const auto& attribute) { return attribute.name() == "axis"; });
  if (!broadcasts || !states_axis) return second;
  return with_first_at(second, integer_attribute(node, "axis", 0), first.size());
}

}  // namespace

Status align_operands(GraphBuilder& builder, const ::onnx::NodeProto& node, int opset,
                      std::vector<graph::ValueId>& operands) {
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  const bool both = operands.size() == 2 && operands[0] != kNoValue && operands[1] != kNoValue;
  if (!standard || opset >= kNumpyBroadcast || !both) return {};
  const graph::Dims shape = builder.value(operands[1]).shape;
  MILLRACE_ASSIGN_OR_RETURN(graph::Dims aligned,
                            aligned_shape(node, builder.value(operands[0]).shape, shape));
  if (aligned == shape) return {};
  MILLRACE_ASSIGN_OR_RETURN(operands[1],
                            builder.emit(NodeImport::name_of(node) + "/aligned",
                                         graph::Reshape{std::move(aligned)}, {operands[1]}));
  return {};
}

bool is_early_attribute(std::string_view name, int opset) {
  if (opset >= kNumpyBroadcast) return false;
  return name == "broadcast" || name == "consumed_inputs" || name == "axis";
}

}  // namespace millrace::compiler
