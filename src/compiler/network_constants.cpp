#include "compiler/network_constants.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lowering/node_facts.h"
#include "lowering/stage.h"

namespace millrace::compiler {
namespace {

using network::Network;
using network::Node;

// Constants up to this size are folded whatever they are computed from, such as target shapes.
constexpr size_t kSmallBytes = size_t{64} << 10;

// Whether a node computes one tensor, which depends on its operands alone.
bool is_foldable(const Node& node) {
  // Random numbers, and what keeps weights in their integers.
  static constexpr std::string_view kOthers[] = {
      "Bernoulli",     "DequantizeLinear", "Multinomial",      "RandomNormal",
      "RandomUniform", "RandomNormalLike", "RandomUniformLike"};
  return node.domain.empty() && std::ranges::find(kOthers, node.type) == std::end(kOthers) &&
         !lowering::is_control_flow(node) && !lowering::reads_sequences(node) &&
         !node.inputs.empty() && node.outputs.size() == 1;
}

// The nodes that read initializers, or results of such nodes, and nothing else.
class ConstantNodes {
 public:
  explicit ConstantNodes(const Network& network) : network_(network) {
    for (const graph::Value& value : network.initializers) bytes_[value.name] = value.bytes();
    for (size_t i = 0; i < network.nodes.size(); ++i) {
      const Node& node = network.nodes[i];
      if (is_foldable(node) && reads_constants(node)) add(i);
    }
  }

  bool empty() const { return nodes_.empty(); }
  bool has(size_t index) const { return std::ranges::binary_search(nodes_, index); }
  // The bytes of the initializers from which a result is computed.
  size_t source_bytes(const std::string& result) const { return bytes_.at(result); }

  // The nodes as a network whose outputs are the results that others read.
  Network as_network() const {
    Network part;
    part.opsets = network_.opsets;
    for (const size_t index : nodes_) part.nodes.push_back(network_.nodes[index]);
    std::unordered_set<std::string_view> read;
    for (const Node& node : part.nodes) read.insert(node.inputs.begin(), node.inputs.end());
    for (const graph::Value& value : network_.initializers)
      if (read.contains(value.name)) part.initializers.push_back(value);
    for (const std::string& name : results_read_by_others()) part.outputs.push_back({name});
    return part;
  }

 private:
  bool reads_constants(const Node& node) const {
    return std::ranges::all_of(node.inputs, [this](const std::string& name) {
      return name.empty() || bytes_.contains(name);
    });
  }

  void add(size_t index) {
    const Node& node = network_.nodes[index];
    const size_t bytes = std::accumulate(node.inputs.begin(), node.inputs.end(), size_t{0},
                                         [this](size_t sum, const auto& name) {
                                           return name.empty() ? sum : sum + bytes_.at(name);
                                         });
    bytes_[node.outputs.front()] = bytes;
    nodes_.push_back(index);
  }

  std::vector<std::string> results_read_by_others() const {
    std::unordered_set<std::string> made;
    for (const size_t index : nodes_) made.insert(network_.nodes[index].outputs.front());
    std::vector<std::string> read;
    const auto add_read = [&](const std::string& name) {
      if (made.erase(name) > 0) read.push_back(name);
    };
    for (size_t i = 0; i < network_.nodes.size(); ++i)
      if (!has(i)) std::ranges::for_each(lowering::names_read_by(network_.nodes[i]), add_read);
    return read;
  }

  const Network& network_;
  std::unordered_map<std::string, size_t> bytes_;
  std::vector<size_t> nodes_;  // ascending
};

bool is_output(const Network& network, const std::string& name) {
  return std::ranges::find(network.outputs, name, &network::Output::name) != network.outputs.end();
}

// The constants of the stage that may replace what computes them. An output of the network stays
// the result of a node.
std::vector<graph::Value> accepted(const Network& network, const ConstantNodes& nodes,
                                   std::vector<graph::Value> constants) {
  std::erase_if(constants, [&](const graph::Value& value) {
    return is_output(network, value.name) ||
           (value.bytes() > kSmallBytes && value.bytes() > nodes.source_bytes(value.name));
  });
  return constants;
}

}  // namespace

void fold_network_constants(Network& network, const graph::Capabilities& capabilities) {
  const ConstantNodes nodes(network);
  if (nodes.empty()) return;
  const Network part = nodes.as_network();
  std::vector<size_t> all(part.nodes.size());
  std::iota(all.begin(), all.end(), size_t{0});
  Result<lowering::Stage> stage = lowering::lower_stage({part, capabilities, all, {}});
  if (!stage.ok()) return;
  std::vector<graph::Value> constants = accepted(network, nodes, std::move(stage->constants));
  std::unordered_set<std::string_view> replaced;
  for (const graph::Value& value : constants) replaced.insert(value.name);
  std::erase_if(network.nodes, [&](const Node& node) {
    return node.outputs.size() == 1 && replaced.contains(node.outputs.front());
  });
  std::ranges::move(constants, std::back_inserter(network.initializers));
}

}  // namespace millrace::compiler
