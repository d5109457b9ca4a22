#include "lowering/passes/passes.h"
#include "lowering/passes/spread_precision.h"

namespace millrace::lowering {

Status mark_full_precision(graph::Graph& graph, const PassContext& context) {
  MILLRACE_RETURN_IF_ERROR(check_names(graph, context.full_precision, "to compute in FP32"));
  if (context.precision == graph::Precision::kFp32 || context.full_precision.empty()) return {};
  for (graph::Node& node : graph.nodes)
    if (!matching_names(node, context.full_precision).empty())
      node.precision = graph::Precision::kFp32;
  spread_full_precision(graph);
  return {};
}

}  // namespace millrace::lowering
