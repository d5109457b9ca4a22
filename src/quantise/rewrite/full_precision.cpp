#include "quantise/rewrite/full_precision.h"

#include "lowering/passes/spread_precision.h"

namespace millrace::quantise {

graph::Graph with_full_precision(graph::Graph graph, const std::vector<bool>& nodes) {
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (nodes[i]) graph.nodes[i].precision = graph::Precision::kFp32;
  lowering::spread_full_precision(graph);
  return graph;
}

}  // namespace millrace::quantise
