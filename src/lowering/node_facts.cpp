#include "lowering/node_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace millrace::lowering {

std::string name_of(const network::Node& node) {
  if (!node.name.empty()) return node.name;
  for (const std::string& output : node.outputs)
    if (!output.empty()) return output;
  return {};
}

std::string describe(const network::Node& node) {
  return fmt::format("node '{}' ({})", name_of(node), node.type);
}

int opset_of(const network::Network& network, const network::Node& node) {
  const auto entry = network.opsets.find(node.domain);
  return entry != network.opsets.end() ? entry->second : 0;
}

const network::Network* subgraph_of(const network::Attribute& attribute) {
  const auto* subgraph = std::get_if<std::shared_ptr<const network::Network>>(&attribute.value);
  return subgraph != nullptr ? subgraph->get() : nullptr;
}

const network::Network* subgraph_of(const network::Node& node, std::string_view attribute) {
  const auto entry = std::ranges::find(node.attributes, attribute, &network::Attribute::name);
  return entry != node.attributes.end() ? subgraph_of(*entry) : nullptr;
}

bool is_if(const network::Node& node) {
  return node.domain.empty() && node.type == "If";
}

bool is_control_flow(const network::Node& node) {
  return is_if(node) || (node.domain.empty() && (node.type == "Loop" || node.type == "Scan"));
}

bool is_on_carried_sequence(const network::Node& node) {
  return node.domain == kCarriedDomain;
}

std::vector<std::string> names_read_by(const network::Node& node) {
  std::vector<std::string> names;
  for (const std::string& input : node.inputs)
    if (!input.empty()) names.push_back(input);
  for (const network::Attribute& attribute : node.attributes) {
    const network::Network* subgraph = subgraph_of(attribute);
    if (subgraph != nullptr)
      names.insert(names.end(), subgraph->captures.begin(), subgraph->captures.end());
  }
  return names;
}

bool reads_sequences(const network::Node& node) {
  return node.domain.empty() && (node.type.starts_with("Sequence") ||
                                 node.type == "ConcatFromSequence" || node.type == "Identity");
}

}  // namespace millrace::lowering
