// The ONNX control-flow operators (If, Loop, Scan), which run subgraphs, and the operators on
// sequences that loops carry. They run between the stages of a dynamic program. An If seldom runs
// here: usually the lowering replaces it by the nodes of the branch that is taken.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/network/network.h"
#include "runtime/dynamic/run_value.h"

namespace millrace::runtime {

// The interface of these operators to the run of the network that contains them.
class EnclosingRun {
 public:
  // Returns the value with this name, in that network or an enclosing one.
  virtual Result<RunValue> value(const std::string& name) = 0;
  // Runs a subgraph once and returns its outputs. Fails with the job's stop status, without a run,
  // if a stop is requested. Requirement: there is a value for each input of `body`.
  virtual Result<std::vector<RunValue>> run_subgraph(const network::Network& body,
                                                     std::span<const RunValue> inputs) = 0;
  // Returns the ONNX operator set version of the network.
  virtual int opset() const = 0;

 protected:
  ~EnclosingRun() = default;
};

// Compute the outputs of a node; there are as many as its subgraph defines. kInvalidArgument if
// operands and subgraph do not match; otherwise the errors of the subgraph's operators. Stops
// between two runs of the subgraph if requested.
Result<std::vector<RunValue>> compute_if(EnclosingRun& run, const network::Node& node);
Result<std::vector<RunValue>> compute_loop(EnclosingRun& run, const network::Node& node);
Result<std::vector<RunValue>> compute_scan(EnclosingRun& run, const network::Node& node);

// Computes an operator on sequences. Results share elements with operands where possible.
// kUnsupported for a sequence of more than 65,536 tensors.
Result<std::vector<RunValue>> compute_on_sequence(EnclosingRun& run, const network::Node& node);

}  // namespace millrace::runtime
