// The operators that run subgraphs, and those on sequences that go through such. An If is seldom
// one of them: the lowering puts the nodes of the branch that is taken in its place, where these
// can be lowered in one go.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/network/network.h"
#include "runtime/dynamic/run_value.h"

namespace millrace::runtime {

// The run of the network that has such an operator as a node.
class EnclosingRun {
 public:
  // The value of this name, in that network or one around it.
  virtual Result<RunValue> value(const std::string& name) = 0;
  // One run of a subgraph, whose outputs it returns. Asks first whether the job is to stop.
  // Requirement: there is a value for each input of `body`.
  virtual Result<std::vector<RunValue>> run_subgraph(const network::Network& body,
                                                     std::span<const RunValue> inputs) = 0;
  // The standard's operator set that the network is written for.
  virtual int opset() const = 0;

 protected:
  ~EnclosingRun() = default;
};

// The outputs of the node, one per output that its subgraph gives. kInvalidArgument where operands
// and subgraph do not fit each other; otherwise the errors of the subgraph's operators. A stop is
// asked for before each run of the subgraph.
Result<std::vector<RunValue>> compute_if(EnclosingRun& run, const network::Node& node);
Result<std::vector<RunValue>> compute_loop(EnclosingRun& run, const network::Node& node);
Result<std::vector<RunValue>> compute_scan(EnclosingRun& run, const network::Node& node);

// The same for an operator on sequences. Its results share the elements of its operands where they
// can. kUnsupported for a sequence that is longer than any model has.
Result<std::vector<RunValue>> compute_on_sequence(EnclosingRun& run, const network::Node& node);

}  // namespace millrace::runtime
