#include "graph/inner_values.h"

#include <fmt/format.h>

#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace millrace::graph {
namespace {

Result<Boundary> inner_boundary(const Graph& graph, ValueId id) {
  const Value& value = graph.values[id];
  std::vector<uint32_t> shape;
  for (const int64_t dim : value.shape) {
    if (dim > std::numeric_limits<uint32_t>::max())
      return invalid_argument(
          fmt::format("value '{}' has a dimension of {}, beyond 32 bits", value.name, dim));
    shape.push_back(static_cast<uint32_t>(dim));
  }
  Boundary boundary;
  boundary.value = id;
  boundary.cpu = tensor::make_cpu_desc(value.name, value.type, std::move(shape));
  return boundary;
}

}  // namespace

Result<CompiledModel> with_inner_values(const CompiledModel& model) {
  CompiledModel all = model;
  std::set<ValueId> outputs(model.graph.outputs.begin(), model.graph.outputs.end());
  for (const Node& node : model.graph.nodes) {
    for (const ValueId id : node.outputs) {
      if (!outputs.insert(id).second) continue;
      MILLRACE_ASSIGN_OR_RETURN(Boundary boundary, inner_boundary(model.graph, id));
      all.graph.outputs.push_back(id);
      all.outputs.push_back(std::move(boundary));
    }
  }
  return all;
}

}  // namespace millrace::graph
