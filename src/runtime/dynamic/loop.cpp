// ONNX Loop: runs its subgraph until the condition is false or the trip count is reached. Carried
// values pass from one iteration to the next; scan outputs collect one part per iteration.
#include <limits>
#include <span>

#include "lowering/loops/loops.h"
#include "runtime/dynamic/control_flow.h"
#include "runtime/dynamic/iteration.h"

namespace millrace::runtime {
namespace {

using lowering::kBeforeCarried;

struct LoopState {
  int64_t trip_count = std::numeric_limits<int64_t>::max();
  bool goes_on = true;
  std::vector<RunValue> carried;
};

bool has_input(const network::Node& node, size_t index) {
  return index < node.inputs.size() && !node.inputs[index].empty();
}

Result<LoopState> begin_loop(EnclosingRun& run, const network::Node& node) {
  LoopState state;
  if (has_input(node, 0)) {
    MILLRACE_ASSIGN_OR_RETURN(const RunValue count, run.value(node.inputs[0]));
    MILLRACE_ASSIGN_OR_RETURN(state.trip_count, read_int64(count, "its trip count"));
  }
  if (has_input(node, 1)) {
    MILLRACE_ASSIGN_OR_RETURN(const RunValue condition, run.value(node.inputs[1]));
    MILLRACE_ASSIGN_OR_RETURN(state.goes_on, read_boolean(condition, "its condition"));
  }
  for (size_t i = kBeforeCarried; i < node.inputs.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(state.carried.emplace_back(), run.value(node.inputs[i]));
  }
  return state;
}

// Runs iteration `number`: updates the condition and the carried values, and adds the remaining
// outputs of the subgraph, the scan outputs, to `collected`.
Status iterate(EnclosingRun& run, const network::Network& body, int64_t number, LoopState& state,
               std::vector<std::vector<RunValue>>& collected) {
  std::vector<RunValue> inputs(kBeforeCarried);
  MILLRACE_ASSIGN_OR_RETURN(inputs[0], int64_value(number));
  MILLRACE_ASSIGN_OR_RETURN(inputs[1], boolean_value(true));
  inputs.insert(inputs.end(), state.carried.begin(), state.carried.end());
  MILLRACE_ASSIGN_OR_RETURN(std::vector<RunValue> outputs, run.run_subgraph(body, inputs));
  MILLRACE_ASSIGN_OR_RETURN(state.goes_on, read_boolean(outputs[0], "the subgraph's condition"));
  const size_t carried = state.carried.size();
  for (size_t i = 0; i < carried; ++i) state.carried[i] = std::move(outputs[1 + i]);
  for (size_t i = 0; i < collected.size(); ++i)
    collected[i].push_back(std::move(outputs[1 + carried + i]));
  return {};
}

}  // namespace

Result<std::vector<RunValue>> compute_loop(EnclosingRun& run, const network::Node& node) {
  MILLRACE_ASSIGN_OR_RETURN(const network::Network* const body,
                            lowering::require_subgraph(node, "body"));
  MILLRACE_ASSIGN_OR_RETURN(LoopState state, begin_loop(run, node));
  const size_t carried = state.carried.size();
  MILLRACE_RETURN_IF_ERROR(lowering::check_counts(*body, kBeforeCarried + carried, 1 + carried));
  std::vector<std::vector<RunValue>> collected(body->outputs.size() - 1 - carried);
  for (int64_t i = 0; i < state.trip_count && state.goes_on; ++i)
    MILLRACE_RETURN_IF_ERROR(iterate(run, *body, i, state, collected));
  std::vector<RunValue> results = std::move(state.carried);
  for (size_t i = 0; i < collected.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(
        results.emplace_back(),
        join_iterations(std::move(collected[i]), 0, body->outputs[1 + carried + i]));
  }
  return results;
}

}  // namespace millrace::runtime
