#include "lowering/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fallback/operator_table.h"
#include "lowering/fallback_import.h"
#include "lowering/node_facts.h"
#include "lowering/placement/coverage.h"
#include "lowering/stages/stage_lowering.h"

namespace millrace::lowering {

Result<Stage> lower_stage(const StageRequest& request) {
  return StageLowering(request, false).run();
}

Result<Stage> lower_whole(const network::Network& network, const graph::Capabilities& capabilities,
                          bool may_leave_rest, bool as_written) {
  std::vector<size_t> nodes(network.nodes.size());
  std::iota(nodes.begin(), nodes.end(), size_t{0});
  std::vector<Known> inputs;
  for (const network::Input& input : network.inputs) {
    inputs.push_back({input.name, input.type, {}});
    for (const network::Dimension& dim : input.shape) inputs.back().shape.push_back(dim.size);
    const bool is_open = std::ranges::count(inputs.back().shape, network::Dimension::kOpen) > 0;
    if (!input.has_shape || is_open)
      return invalid_argument(fmt::format("the shape of input '{}' is open", input.name));
  }
  return StageLowering({network, capabilities, nodes, inputs, may_leave_rest, as_written}, true)
      .run();
}

Status check_operators(const network::Network& network) {
  Coverage coverage(network);
  for (const network::Node& node : network.nodes) coverage.look_up(node, name_of(node));
  return coverage.status();
}

bool runs_alone(const network::Node& node) {
  if (is_control_flow(node)) return !is_if(node);
  if (is_on_carried_sequence(node)) return true;
  const fallback::OperatorSpec* spec = fallback::find_operator(fallback_name(node));
  return spec != nullptr && spec->shape_follows_elements;
}

Result<graph::Fallback> as_fallback(const network::Network& network, const network::Node& node) {
  const int opset = opset_of(network, node);
  if (!has_fallback(node, opset)) {
    return unsupported("there is no kernel for its operator").with_context(describe(node));
  }
  Result<graph::Fallback> op = read_fallback(node, opset);
  if (!op.ok()) return op.status().with_context(describe(node));
  return op;
}

}  // namespace millrace::lowering
