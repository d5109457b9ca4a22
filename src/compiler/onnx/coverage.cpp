#include "compiler/onnx/coverage.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/onnx/operator_table.h"

namespace millrace::compiler {

void Coverage::leave_out(const ::onnx::NodeProto& node, const std::string& reason) {
  const std::string name = NodeImport::name_of(node);
  report_.add(name, node.op_type(), node.domain(), opsets_.of(node.domain()), reason);
  pass_over(node);
  look_inside(node, name);
}

bool Coverage::pass_over_dependent(const ::onnx::NodeProto& node) {
  const bool behind = std::ranges::any_of(
      node.input(), [this](const std::string& name) { return unavailable_.contains(name); });
  if (!behind) return false;
  report_.add_by_name(node.op_type());
  pass_over(node);
  return true;
}

void Coverage::add_without_kernel(const ::onnx::NodeProto& node, const std::string& reason) {
  report_.add(NodeImport::name_of(node), node.op_type(), node.domain(), opsets_.of(node.domain()),
              reason);
}

void Coverage::pass_over(const ::onnx::NodeProto& node) {
  unavailable_.insert(node.output().begin(), node.output().end());
  read_.insert(node.input().begin(), node.input().end());
}

// The branches of an If, the body of a Loop and the like.
void Coverage::look_inside(const ::onnx::NodeProto& node, const std::string& name) {
  for (const auto& attribute : node.attribute()) {
    const std::string prefix = fmt::format("{}/{}/", name, attribute.name());
    if (attribute.has_g()) look_up(attribute.g(), prefix);
    for (const auto& graph : attribute.graphs()) look_up(graph, prefix);
  }
}

void Coverage::look_up(const ::onnx::GraphProto& graph, const std::string& prefix) {
  for (const auto& node : graph.node()) {
    const std::string name = prefix + NodeImport::name_of(node);
    const int opset = opsets_.of(node.domain());
    if (find_operator(node.domain(), node.op_type(), opset) != nullptr) {
      report_.add_by_name(node.op_type());
    } else {
      report_.add(name, node.op_type(), node.domain(), opset, "");
    }
    // Inner graphs read values of the outer one.
    read_.insert(node.input().begin(), node.input().end());
    look_inside(node, name);
  }
}

}  // namespace millrace::compiler
