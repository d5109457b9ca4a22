#include "cli/compare/inner_values.h"

#include <fmt/format.h>

#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace millrace::cli {
namespace {

Result<graph::Boundary> inner_boundary(const graph::Graph& graph, graph::ValueId id) {
  const graph::Value& value = graph.values[id];
  std::vector<uint32_t> shape;
  for (const int64_t dim : value.shape) {
    if (dim > std::numeric_limits<uint32_t>::max())
      return invalid_argument(fmt::format("value '{}' has a dimension of {}", value.name, dim));
    shape.push_back(static_cast<uint32_t>(dim));
  }
  graph::Boundary boundary;
  boundary.value = id;
  boundary.cpu = tensor::make_cpu_desc(value.name, value.type, std::move(shape));
  return boundary;
}

}  // namespace

Result<graph::CompiledModel> with_inner_values(const graph::CompiledModel& model) {
  graph::CompiledModel all = model;
  std::set<graph::ValueId> outputs(model.graph.outputs.begin(), model.graph.outputs.end());
  for (const graph::Node& node : model.graph.nodes) {
    for (const graph::ValueId id : node.outputs) {
      if (!outputs.insert(id).second) continue;
      MILLRACE_ASSIGN_OR_RETURN(graph::Boundary boundary, inner_boundary(model.graph, id));
      all.graph.outputs.push_back(id);
      all.outputs.push_back(std::move(boundary));
    }
  }
  return all;
}

}  // namespace millrace::cli
