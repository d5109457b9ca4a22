// Coverage: keeps track of the nodes of a network that a lowering does not support, and of the
// nodes that depend on them, for one error message that lists all (UnsupportedReport). For one
// thread.
#pragma once

#include <string>
#include <unordered_set>

#include "base/status.h"
#include "graph/network/network.h"
#include "lowering/placement/unsupported_report.h"

namespace millrace::lowering {

// Whether the node's operator is supported in its opset: by a handler, by a fallback operator, or
// as control flow or an operator on a carried sequence, which the runtime executes.
bool is_covered(const network::Network& network, const network::Node& node);

class Coverage {
 public:
  explicit Coverage(const network::Network& network) : network_(network) {}

  // Reports a node that is not supported. `name` is its name in the report; `reason` is empty if
  // its operator is not supported at all. Nodes that read its outputs have to be passed over.
  void leave_out(const network::Node& node, const std::string& name, const std::string& reason);

  // Passes over a node that depends on a node that was left out: types and shapes of its operands
  // are not known, so only its operator is checked by name. Returns false, and does nothing, for
  // any other node.
  bool pass_over_dependent(const network::Node& node);

  // Reports a node that was lowered, but for whose types no device has a kernel.
  void add_without_kernel(const network::Node& node, const std::string& name,
                          const std::string& reason);

  // Checks the operators of a node and of the nodes in its subgraphs by name, since types and
  // shapes of its operands are not known yet.
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
