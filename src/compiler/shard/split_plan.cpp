// Grows a region from each product with constant weights: a worklist propagates the division of its
// columns forwards to all readers and backwards to all operands that must be divided alike
// (split_rules.h). If an operator needs all of a divided value, the whole region is given up, and
// the product stays undivided.
#include "compiler/shard/split_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "graph/shape.h"

namespace millrace::compiler {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::MatMul;
using graph::Node;
using graph::ValueId;

constexpr uint32_t kNoNode = 0xffffffffu;

// Whether the node is a matrix product with constant weights of rank 2.
bool has_weights(const Graph& graph, const Node& node) {
  if (!std::holds_alternative<MatMul>(node.op)) return false;
  const graph::Value& weights = graph.values[node.inputs[1]];
  return weights.constant && weights.shape.size() == 2 &&
         graph.values[node.inputs[0]].shape.size() >= 2;
}

// The readers and the maker of each value.
struct Uses {
  std::vector<std::vector<uint32_t>> readers;  // by value
  std::vector<uint32_t> makers;                // by value; kNoNode for inputs and constants
};

Uses uses_of(const Graph& graph) {
  Uses uses{graph::consumers_of(graph), std::vector<uint32_t>(graph.values.size(), kNoNode)};
  for (uint32_t i = 0; i < graph.nodes.size(); ++i)
    for (const ValueId id : graph.nodes[i].outputs) uses.makers[id] = i;
  return uses;
}

// The values and nodes that must be divided if the columns of one product are, or the reason why
// that is impossible.
class Region {
 public:
  Region(const Graph& graph, const Uses& uses, const SplitPlan& plan, uint32_t ranks)
      : graph_(graph), uses_(uses), plan_(plan), ranks_(ranks) {}

  // Returns an empty text if the region can be divided, otherwise the reason against it.
  std::string grow_from(uint32_t product) {
    const ValueId result = graph_.nodes[product].outputs[0];
    divide(result, graph_.values[result].shape.size() - 1);
    while (reason_.empty() && !open_.empty()) {
      const ValueId id = open_.back();
      open_.pop_back();
      for (const uint32_t reader : uses_.readers[id]) follow(reader, id);
    }
    return reason_;
  }

  void add_to(SplitPlan& plan) const {
    for (const auto& [id, dimension] : found_.values) plan.values[id] = dimension;
    for (const auto& [id, dimension] : found_.cuts) plan.cuts[id] = dimension;
    for (const uint32_t node : found_.partial) plan.partial[node] = true;
    for (const auto& [id, dimension] : found_.values)
      add_product(plan, uses_.makers[id], dimension);
    for (const uint32_t node : found_.partial) plan.divided.push_back(node);
  }

 private:
  struct Found {
    std::map<ValueId, size_t> values;  // divided values, with the dimension
    std::map<ValueId, size_t> cuts;    // whole values that are read in parts, likewise
    std::set<uint32_t> partial;
  };

  void add_product(SplitPlan& plan, uint32_t node, size_t dimension) const {
    if (!has_weights(graph_, graph_.nodes[node])) return;
    if (operand_splits(graph_, graph_.nodes[node], dimension, ranks_)->at(1))
      plan.divided.push_back(node);
  }

  void refuse(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
  }
  void refuse(const Node& node) {
    refuse(fmt::format("'{}' ({}) needs the whole of its operands", node.name,
                       graph::name_of(node.op)));
  }

  Split split_of(ValueId id) const {
    const auto entry = found_.values.find(id);
    return entry == found_.values.end() ? plan_.values[id] : Split(entry->second);
  }
  Split cut_of(ValueId id) const {
    const auto entry = found_.cuts.find(id);
    return entry == found_.cuts.end() ? plan_.cuts[id] : Split(entry->second);
  }

  // Divides a value that a node makes, and the operands of that node as far as necessary.
  void divide(ValueId id, size_t dimension) {
    if (!reason_.empty()) return;
    const graph::Value& value = graph_.values[id];
    const Split split = split_of(id);
    if (split.value_or(dimension) != dimension || cut_of(id).value_or(dimension) != dimension)
      return refuse(fmt::format("'{}' would be divided in two ways", value.name));
    if (split) return;
    const uint32_t maker = uses_.makers[id];
    const Node& node = graph_.nodes[maker];
    if (value.shape[dimension] % ranks_ != 0)
      return refuse(fmt::format("dimension {} of '{}' {} is not a multiple of {}", dimension,
                                value.name, graph::to_string(value.shape), ranks_));
    const auto operands = operand_splits(graph_, node, dimension, ranks_);
    if (!operands || found_.partial.contains(maker) || plan_.partial[maker] ||
        node.outputs.size() != 1)
      return refuse(node);
    found_.values[id] = dimension;
    open_.push_back(id);
    need(node, *operands);
  }

  // Divides the operands that nodes make. Constants and inputs of the graph are divided where they
  // are read.
  void need(const Node& node, const std::vector<Split>& operands) {
    for (size_t slot = 0; slot < operands.size(); ++slot) {
      const ValueId id = node.inputs[slot];
      if (operands[slot] && uses_.makers[id] != kNoNode) divide_or_cut(id, *operands[slot]);
    }
  }

  // Divides an operand if possible. Otherwise every rank computes all of it and reads its own part,
  // as for the keys of fewer heads than there are ranks.
  void divide_or_cut(ValueId id, size_t dimension) {
    if (!reason_.empty()) return;
    const bool is_divided = split_of(id).has_value();
    const bool may_be_cut = !is_divided && cut_of(id).value_or(dimension) == dimension;
    const Found before = found_;
    const std::vector<ValueId> open_before = open_;
    divide(id, dimension);
    if (reason_.empty() || !may_be_cut) return;
    found_ = before;
    open_ = open_before;
    reason_.clear();
    found_.cuts[id] = dimension;
  }

  // Propagates the division of value `id` through a node that reads it, or refuses the node.
  void follow(uint32_t index, ValueId id) {
    const Node& node = graph_.nodes[index];
    for (size_t slot = 0; slot < node.inputs.size() && reason_.empty(); ++slot) {
      if (node.inputs[slot] != id) continue;
      const auto effect = effect_of(graph_, node, slot, *split_of(id), ranks_);
      if (!effect || node.outputs.size() != 1) return refuse(node);
      if (effect->is_partial) {
        add_partial(index);
      } else {
        divide(node.outputs[0], *effect->result);
      }
    }
  }

  void add_partial(uint32_t index) {
    const Node& node = graph_.nodes[index];
    if (split_of(node.outputs[0])) return refuse(node);
    if (found_.partial.insert(index).second) need(node, operands_of_partial_sums(graph_, node));
  }

  const Graph& graph_;
  const Uses& uses_;
  const SplitPlan& plan_;
  const uint32_t ranks_;
  Found found_;
  std::vector<ValueId> open_;  // worklist: values whose readers have not been visited
  std::string reason_;
};

Status check_plan(const SplitPlan& plan) {
  if (!plan.divided.empty()) return {};
  if (plan.whole.empty())
    return unsupported("the model has no product with constant weights that could be divided");
  return unsupported(
      fmt::format("no product of the model can be divided: {}", fmt::join(plan.whole, "; ")));
}

}  // namespace

Result<SplitPlan> plan_split(const Graph& graph, uint32_t ranks) {
  const auto is_quantised = [](const graph::Value& value) {
    return value.quantisation.has_value();
  };
  if (std::ranges::any_of(graph.values, is_quantised))
    return unsupported("the model has quantised values; divide the floating-point model instead");
  const Uses uses = uses_of(graph);
  SplitPlan plan{std::vector<Split>(graph.values.size()),
                 std::vector<Split>(graph.values.size()),
                 std::vector<bool>(graph.nodes.size()),
                 {},
                 {}};
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!has_weights(graph, node) || std::ranges::count(plan.divided, i) != 0) continue;
    Region region(graph, uses, plan, ranks);
    const std::string reason = region.grow_from(i);
    if (reason.empty()) {
      region.add_to(plan);
    } else {
      plan.whole.push_back(fmt::format("'{}': {}", node.name, reason));
    }
  }
  MILLRACE_RETURN_IF_ERROR(check_plan(plan));
  return plan;
}

std::vector<Split> operands_of(const Graph& graph, const Node& node, bool is_partial, Split result,
                               uint32_t ranks) {
  if (is_partial) return operands_of_partial_sums(graph, node);
  if (result) return *operand_splits(graph, node, *result, ranks);
  return std::vector<Split>(node.inputs.size());
}

}  // namespace millrace::compiler
