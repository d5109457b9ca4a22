// Coverage: which nodes of a network a lowering leaves out, and what depends on them.
#pragma once

#include <string>
#include <unordered_set>

#include "base/status.h"
#include "graph/network/network.h"
#include "lowering/placement/unsupported_report.h"

namespace millrace::lowering {

// Whether there is anything that runs nodes of this operator: a handler, a fallback operator, or
// what runs its subgraphs.
bool is_covered(const network::Network& network, const network::Node& node);

class Coverage {
 public:
  explicit Coverage(const network::Network& network) : network_(network) {}

  // The node is not covered; `reason` is empty where its operator as such is not. `name` is what
  // the report calls it. What reads its outputs is to be passed over.
  void leave_out(const network::Node& node, const std::string& name, const std::string& reason);

  // Passes over a node that reads, directly or not, what a node left out would have made: it has no
  // known types or shapes either, and is counted as checked by name only. Returns whether it did.
  bool pass_over_dependent(const network::Node& node);

  // The node stays in the graph, but no device has a kernel for its types.
  void add_without_kernel(const network::Node& node, const std::string& name,
                          const std::string& reason);

  // For a node whose operands have no known types or shapes yet: it is looked up by the name of its
  // operator, and so are the nodes in its subgraphs.
  void look_up(const network::Node& node, const std::string& name);

  // Whether a node that was left out or passed over reads the value of this name.
  bool is_read_by_others(const std::string& name) const { return read_.contains(name); }

  // See UnsupportedReport::status().
  Status status() const { return report_.status(); }

 private:
  void add(const network::Node& node, const std::string& name, const std::string& reason);
  void pass_over(const network::Node& node);
  void look_inside(const network::Node& node, const std::string& name);

  const network::Network& network_;
  UnsupportedReport report_;
  std::unordered_set<std::string> unavailable_;  // outputs of nodes that were not lowered
  std::unordered_set<std::string> read_;         // values that such nodes read
};

}  // namespace millrace::lowering
