#include "runtime/dynamic/node_reads.h"

#include <algorithm>
#include <set>

namespace millrace::runtime {
namespace {

using SubgraphPointer = std::shared_ptr<const network::Network>;

// Calls visit(name) for each value; a name that is left out is none.
template <class Visit>
void for_each_read(const network::Node& node, Visit&& visit) {
  for (const std::string& name : node.inputs) {
    if (!name.empty()) visit(name);
  }
  for (const network::Attribute& attribute : node.attributes) {
    const auto* subgraph = std::get_if<SubgraphPointer>(&attribute.value);
    if (subgraph == nullptr) continue;
    for (const std::string& name : (*subgraph)->captures) visit(name);
  }
}

}  // namespace

bool reads_any_of(const network::Node& node, const std::unordered_set<std::string_view>& names) {
  bool reads = false;
  for_each_read(node, [&](const std::string& name) { reads = reads || names.contains(name); });
  return reads;
}

std::vector<std::string> values_needed(const network::Network& network,
                                       std::span<const size_t> nodes) {
  std::set<std::string> needed;
  for (const size_t index : nodes) {
    for_each_read(network.nodes[index], [&](const std::string& name) { needed.insert(name); });
  }
  for (const size_t index : nodes) {
    for (const std::string& name : network.nodes[index].outputs) needed.erase(name);
  }
  for (const graph::Value& initializer : network.initializers) needed.erase(initializer.name);
  return {needed.begin(), needed.end()};
}

}  // namespace millrace::runtime
