// The order in which the nodes of a network can be lowered.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "graph/network/network.h"

namespace millrace::compiler {

struct NodeOrder {
  std::vector<size_t> order;  // indices of all nodes
  // Values that nodes or outputs of the network read and that are neither given nor made by a node,
  // by name, with the index of the first node that reads them; the number of nodes for an output.
  std::vector<std::pair<std::string, size_t>> missing;
};

// Each node after those that make what it and its subgraphs read, otherwise in the order of
// `network`. `given` holds the names of inputs and initializers. kInvalidArgument names the node
// where a value is made twice, or nodes depend on each other in a cycle.
Result<NodeOrder> node_order(const network::Network& network,
                             const std::unordered_set<std::string>& given);

}  // namespace millrace::compiler
