#include "lowering/placement/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "lowering/fallback_import.h"
#include "lowering/node_facts.h"
#include "lowering/operators/operator_table.h"

namespace millrace::lowering {

bool is_covered(const network::Network& network, const network::Node& node) {
  const int opset = opset_of(network, node);
  return is_control_flow(node) || is_on_carried_sequence(node) ||
         find_operator(node.domain, node.type, opset) != nullptr || has_fallback(node, opset);
}

void Coverage::add(const network::Node& node, const std::string& name, const std::string& reason) {
  report_.add(name, node.type, node.domain, opset_of(network_, node), reason);
}

void Coverage::leave_out(const network::Node& node, const std::string& name,
                         const std::string& reason) {
  add(node, name, reason);
  pass_over(node);
  look_inside(node, name);
}

bool Coverage::pass_over_dependent(const network::Node& node) {
  const auto is_unavailable = [this](const std::string& name) {
    return unavailable_.contains(name);
  };
  if (std::ranges::none_of(names_read_by(node), is_unavailable)) return false;
  if (is_covered(network_, node)) {
    report_.add_by_name(node.type);
  } else {
    add(node, name_of(node), "");
  }
  pass_over(node);
  look_inside(node, name_of(node));
  return true;
}

void Coverage::add_without_kernel(const network::Node& node, const std::string& name,
                                  const std::string& reason) {
  add(node, name, reason);
}

void Coverage::look_up(const network::Node& node, const std::string& name) {
  if (!is_covered(network_, node)) {
    add(node, name, "");
  } else if (!report_.empty()) {
    report_.add_by_name(node.type);
  }
  look_inside(node, name);
}

void Coverage::pass_over(const network::Node& node) {
  unavailable_.insert(node.outputs.begin(), node.outputs.end());
  const auto names = names_read_by(node);
  read_.insert(names.begin(), names.end());
}

// Checks the nodes in the subgraphs of a node. Their names in the report include the names of the
// nodes around them; a limit keeps the names of deeply nested nodes short.
void Coverage::look_inside(const network::Node& node, const std::string& name) {
  constexpr size_t kLongestPrefix = 1024;
  const std::string_view around = std::string_view(name).substr(0, kLongestPrefix);
  for (const network::Attribute& attribute : node.attributes) {
    const network::Network* inner = subgraph_of(attribute);
    if (inner == nullptr) continue;
    for (const network::Node& inside : inner->nodes) {
      look_up(inside, fmt::format("{}/{}/{}", around, attribute.name, name_of(inside)));
    }
  }
}

}  // namespace millrace::lowering
