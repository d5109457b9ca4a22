// Kahn's algorithm for topological sorting. A priority queue yields the ready node with the lowest
// index, so the order of the file is kept where possible.
#include "compiler/onnx/node_order.h"

#include <fmt/format.h>

#include <functional>
#include <queue>
#include <unordered_map>

#include "lowering/node_facts.h"

namespace millrace::compiler {
namespace {

using lowering::describe;
using Makers = std::unordered_map<std::string, size_t>;  // value name -> node index

Result<Makers> find_makers(const network::Network& network,
                           const std::unordered_set<std::string>& given) {
  Makers makers;
  for (size_t index = 0; index < network.nodes.size(); ++index) {
    for (const std::string& output : network.nodes[index].outputs) {
      if (output.empty()) continue;
      if (given.contains(output) || !makers.emplace(output, index).second) {
        return invalid_argument(fmt::format("{}: its output '{}' exists already",
                                            describe(network.nodes[index]), output));
      }
    }
  }
  return makers;
}

// The edges between nodes.
struct Dependencies {
  std::vector<std::vector<size_t>> readers;  // by node: the nodes that read its outputs
  std::vector<size_t> waiting_for;           // by node: the number of values it waits for
};

Dependencies find_dependencies(const network::Network& network, const Makers& makers,
                               const std::unordered_set<std::string>& given, NodeOrder* result) {
  const size_t count = network.nodes.size();
  Dependencies found{std::vector<std::vector<size_t>>(count), std::vector<size_t>(count, 0)};
  std::unordered_set<std::string> missing;
  const auto note_missing = [&](const std::string& name, size_t reader) {
    if (missing.insert(name).second) result->missing.emplace_back(name, reader);
  };
  for (size_t index = 0; index < count; ++index) {
    for (const std::string& name : lowering::names_read_by(network.nodes[index])) {
      if (given.contains(name)) continue;
      const auto maker = makers.find(name);
      if (maker == makers.end()) {
        note_missing(name, index);
        continue;
      }
      found.readers[maker->second].push_back(index);
      ++found.waiting_for[index];
    }
  }
  for (const network::Output& output : network.outputs) {
    if (!given.contains(output.name) && !makers.contains(output.name))
      note_missing(output.name, count);
  }
  return found;
}

}  // namespace

Result<NodeOrder> node_order(const network::Network& network,
                             const std::unordered_set<std::string>& given) {
  MILLRACE_ASSIGN_OR_RETURN(const Makers makers, find_makers(network, given));
  NodeOrder result;
  Dependencies found = find_dependencies(network, makers, given, &result);
  const size_t count = network.nodes.size();
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t index = 0; index < count; ++index) {
    if (found.waiting_for[index] == 0) ready.push(index);
  }
  while (!ready.empty()) {
    result.order.push_back(ready.top());
    ready.pop();
    for (const size_t reader : found.readers[result.order.back()]) {
      if (--found.waiting_for[reader] == 0) ready.push(reader);
    }
  }
  for (size_t index = 0; result.order.size() < count && index < count; ++index) {
    if (found.waiting_for[index] > 0) {
      return invalid_argument(
          fmt::format("{}: it depends on its own output", describe(network.nodes[index])));
    }
  }
  return result;
}

}  // namespace millrace::compiler
