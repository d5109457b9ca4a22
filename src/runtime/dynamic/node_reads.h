// The values of a network that its nodes read, including those that their subgraphs capture.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "graph/network/network.h"

namespace millrace::runtime {

bool reads_any_of(const network::Node& node, const std::unordered_set<std::string_view>& names);

// The values that these nodes read and neither they nor the network's initializers give, in
// ascending order.
std::vector<std::string> values_needed(const network::Network& network,
                                       std::span<const size_t> nodes);

}  // namespace millrace::runtime
