#include "runtime/dynamic/node_reads.h"

#include <algorithm>
#include <set>

#include "lowering/node_facts.h"

namespace millrace::runtime {

bool reads_any_of(const network::Node& node, const std::unordered_set<std::string_view>& names) {
  return std::ranges::any_of(lowering::names_read_by(node),
                             [&](const std::string& name) { return names.contains(name); });
}

std::vector<std::string> values_needed(const network::Network& network,
                                       std::span<const size_t> nodes) {
  std::set<std::string> needed;
  for (const size_t index : nodes) {
    const auto names = lowering::names_read_by(network.nodes[index]);
    needed.insert(names.begin(), names.end());
  }
  for (const size_t index : nodes) {
    for (const std::string& name : network.nodes[index].outputs) needed.erase(name);
  }
  for (const graph::Value& initializer : network.initializers) needed.erase(initializer.name);
  return {needed.begin(), needed.end()};
}

}  // namespace millrace::runtime
