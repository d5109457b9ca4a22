// ONNX If: runs one of its two subgraphs. This is used if the lowering could not replace the If by
// the nodes of the branch that is taken.
#include "lowering/loops/loops.h"
#include "runtime/dynamic/control_flow.h"

namespace millrace::runtime {

Result<std::vector<RunValue>> compute_if(EnclosingRun& run, const network::Node& node) {
  if (node.inputs.size() != 1)
    return invalid_argument("it must have exactly one input, the condition");
  MILLRACE_ASSIGN_OR_RETURN(const RunValue condition, run.value(node.inputs[0]));
  MILLRACE_ASSIGN_OR_RETURN(const bool holds, read_boolean(condition, "its condition"));
  MILLRACE_ASSIGN_OR_RETURN(
      const network::Network* const branch,
      lowering::require_subgraph(node, holds ? "then_branch" : "else_branch"));
  MILLRACE_RETURN_IF_ERROR(lowering::check_counts(*branch, 0, node.outputs.size()));
  return run.run_subgraph(*branch, {});
}

}  // namespace millrace::runtime
