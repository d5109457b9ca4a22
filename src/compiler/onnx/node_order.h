// Topological order of the nodes of a network. Thread-safe.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "graph/network/network.h"

namespace millrace::compiler {

struct NodeOrder {
  std::vector<size_t> order;  // the indices of all nodes
  // Values that nodes or outputs read, but that are neither given nor made by a node: the name, and
  // the index of the first node that reads the value, or the number of nodes if only an output
  // does.
  std::vector<std::pair<std::string, size_t>> missing;
};

// Sorts the nodes so that each follows the nodes on which it and its subgraphs depend, and
// otherwise keeps their order. `given` holds the names of inputs and initializers.
// kInvalidArgument: a value is made twice, or nodes form a cycle; the message names a node.
Result<NodeOrder> node_order(const network::Network& network,
                             const std::unordered_set<std::string>& given);

}  // namespace millrace::compiler
