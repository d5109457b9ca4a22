// The values of a network that its nodes read, including values that their subgraphs capture.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "graph/network/network.h"

namespace millrace::runtime {

// Returns whether the node reads any of these values.
bool reads_any_of(const network::Node& node, const std::unordered_set<std::string_view>& names);

// Returns the names, sorted, of the values that these nodes read, without those that they compute
// themselves and the network's initializers.
std::vector<std::string> values_needed(const network::Network& network,
                                       std::span<const size_t> nodes);

}  // namespace millrace::runtime
