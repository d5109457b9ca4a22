// Queries about the nodes of a network: their names, their kinds, and the values that they read.
// Pure functions: thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/network/network.h"

namespace millrace::lowering {

// The node's name; that of its first output if it has none.
std::string name_of(const network::Node& node);
// Names the node in messages: "node 'conv1' (Conv)".
std::string describe(const network::Node& node);

// The opset of the node's domain; 0 if the network does not state it.
int opset_of(const network::Network& network, const network::Node& node);

// The subgraph that an attribute holds; null if it holds something else, or does not exist.
const network::Network* subgraph_of(const network::Attribute& attribute);
const network::Network* subgraph_of(const network::Node& node, std::string_view attribute);

// Whether the node is an If, Loop or Scan of the standard, which run their subgraphs.
bool is_control_flow(const network::Node& node);
bool is_if(const network::Node& node);

// The domain of operators on sequences that loops carry (loops/carried_sequences.h). They have the
// names that they have in the domain of the standard.
inline constexpr std::string_view kCarriedDomain = "millrace.carried";
bool is_on_carried_sequence(const network::Node& node);

// The values that the node reads: its operands, and the values that its subgraphs capture.
std::vector<std::string> names_read_by(const network::Node& node);

// Whether the node may have operands that are sequences.
bool reads_sequences(const network::Node& node);

}  // namespace millrace::lowering
