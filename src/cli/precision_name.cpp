#include "cli/precision_name.h"

#include <algorithm>
#include <variant>

#include "cli/model_source.h"

namespace millrace::cli {
namespace {

// Whether the node computes on quantised values. A Requantise does not count: a model that only
// quantises its inputs computes in floating point.
bool works_on_quantised(const graph::Graph& graph, const graph::Node& node) {
  if (std::holds_alternative<graph::Requantise>(node.op)) return false;
  return std::ranges::any_of(node.inputs, [&](graph::ValueId id) {
    return id != graph::kNoValue && graph.values[id].quantisation;
  });
}

}  // namespace

std::string precision_name(const graph::CompiledModel& model, graph::Precision floats) {
  const bool integers = std::ranges::any_of(model.graph.nodes, [&](const graph::Node& node) {
    return works_on_quantised(model.graph, node);
  });
  return integers ? kInt8 : graph::name_of(floats);
}

}  // namespace millrace::cli
