// QuantizeLinear and DequantizeLinear propose a quantisation for the integers that they make or
// read. Data movement connects integers to groups (union-find), which have one quantisation, that
// of the first proposal. Then QuantizeLinear and DequantizeLinear that agree with it become
// Requantise; the others stay fallback operators, which read the integers as they are.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/shape.h"
#include "lowering/linear_quantisation.h"
#include "lowering/passes/passes.h"
#include "lowering/passes/quantised/quantised_nodes.h"

namespace millrace::lowering {
namespace {

using graph::kNoValue;
using graph::Node;
using graph::Quantisation;
using graph::Value;
using graph::ValueId;

// Whether the value holds INT8 or UINT8 integers that are computed at run time, without a
// quantisation yet.
bool is_raw(const Value& value) {
  return is_byte(value.type) && !value.quantisation && !value.constant;
}

// Whether the operator moves integers. A Pad may add any integer, since give_numbers() converts it
// to the real number that it represents.
bool moves_integers(const graph::Operator& op) {
  return only_moves(op) || std::holds_alternative<graph::Pad>(op);
}

// Groups of raw values that data movement connects. A group has one quantisation; or none, if
// another operator of the graph reads or makes one of its values, since that would see dequantised
// elements then. Fallbacks and Casts see the integers in any case.
class Groups {
 public:
  explicit Groups(const graph::Graph& graph)
      : parents_(graph.values.size()), states_(graph.values.size()) {
    std::iota(parents_.begin(), parents_.end(), ValueId{0});
    std::vector<ValueId> fixed, moved;
    for (const Node& node : graph.nodes)
      if (graph::computes_numbers(node.op)) add(graph, node, fixed, moved);
    for (const ValueId id : fixed) states_[root(id)].fixed = true;
    for (const ValueId id : moved) states_[root(id)].has_moves = true;
  }

  // Proposes a quantisation for the group of a raw value. The first proposal is taken.
  void propose(ValueId id, const Quantisation& quantisation) {
    State& group = states_[root(id)];
    // Data movement may change which dimension the parameters of an axis belong to.
    if (group.fixed || (group.has_moves && quantisation.is_per_axis())) return;
    if (!group.quantisation) group.quantisation = quantisation;
  }
  const std::optional<Quantisation>& of(ValueId id) { return states_[root(id)].quantisation; }

 private:
  struct State {
    bool fixed = false, has_moves = false;
    std::optional<Quantisation> quantisation;
  };

  ValueId root(ValueId id) {
    while (parents_[id] != id) id = parents_[id] = parents_[parents_[id]];
    return id;
  }

  void unite(ValueId a, ValueId b) { parents_[root(a)] = root(b); }

  // Collects the values that have to stay raw (`fixed`), and the results of data movement,
  // including movement of constants (`moved`).
  void add(const graph::Graph& graph, const Node& node, std::vector<ValueId>& fixed,
           std::vector<ValueId>& moved) {
    const ValueId output = node.outputs[0];
    const bool moves = moves_integers(node.op) && is_raw(graph.values[output]);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == kNoValue || !is_raw(graph.values[id])) continue;
      if (moves && i < moved_operands(node))
        unite(id, output);
      else
        fixed.push_back(id);
    }
    if (is_raw(graph.values[output])) (moves ? moved : fixed).push_back(output);
  }

  std::vector<ValueId> parents_;
  std::vector<State> states_;  // states of the roots
};

class Recogniser {
 public:
  Recogniser(graph::Graph& graph, const PassContext& context)
      : graph_(graph), context_(context), groups_(graph) {}

  void run() {
    for (const Node& node : graph_.nodes) propose(node);
    const size_t values = graph_.values.size();
    for (ValueId id = 0; id < values; ++id)
      if (is_raw(graph_.values[id])) graph_.values[id].quantisation = groups_.of(id);
    for (Node& node : graph_.nodes) {
      if (const auto* op = std::get_if<graph::Fallback>(&node.op))
        convert(node, *op);
      else if (graph::computes_numbers(node.op) && graph_.values[node.outputs[0]].quantisation)
        give_numbers(node);
    }
  }

 private:
  // Returns the integers that a QuantizeLinear makes, or a DequantizeLinear reads.
  static ValueId integers_of(const Node& node, const graph::Fallback& op) {
    return op.name == "QuantizeLinear" ? node.outputs[0] : node.inputs[0];
  }

  std::optional<Quantisation> quantisation_by(const Node& node, const graph::Fallback& op) const {
    std::vector<const Value*> operands;
    for (const ValueId id : node.inputs)
      operands.push_back(id == kNoValue ? nullptr : &graph_.values[id]);
    return quantisation_of(op, operands, graph_.values[integers_of(node, op)].type);
  }

  void propose(const Node& node) {
    const auto* op = std::get_if<graph::Fallback>(&node.op);
    const auto quantisation = op != nullptr ? quantisation_by(node, *op) : std::nullopt;
    if (!quantisation || !is_raw(graph_.values[integers_of(node, *op)]) || !may_keep(*quantisation))
      return;
    groups_.propose(integers_of(node, *op), *quantisation);
  }

  // Takes parameters per axis from the budget, since each value has its own copy of them.
  bool may_keep(const Quantisation& quantisation) const {
    return !quantisation.is_per_axis() || context_.may_make(2 * quantisation.scales.size());
  }

  void convert(Node& node, const graph::Fallback& op) {
    const auto quantisation = quantisation_by(node, op);
    if (!quantisation) return;
    ValueId& x = node.inputs[0];
    const ValueId integers = integers_of(node, op);
    if (graph_.values[integers].constant && !may_keep(*quantisation)) return;
    if (graph_.values[integers].constant)
      x = quantised_constant(integers, *quantisation);
    else if (graph_.values[integers].quantisation != quantisation)
      return;
    // ValueId{x} is a copy, since the assignment destroys the element that `x` refers to.
    node.inputs = {ValueId{x}};
    node.op = graph::Requantise{};
  }

  // Adapts a node that moves integers to the quantisation of its result: constant operands get it,
  // too, and the padding value becomes a real number.
  void give_numbers(Node& node) {
    const Quantisation quantisation = *graph_.values[node.outputs[0]].quantisation;
    for (size_t i = 0; i < moved_operands(node) && i < node.inputs.size(); ++i)
      if (graph_.values[node.inputs[i]].constant)
        node.inputs[i] = quantised_constant(node.inputs[i], quantisation);
    if (auto* pad = std::get_if<graph::Pad>(&node.op)) {
      const auto zero_point = static_cast<float>(quantisation.zero_points[0]);
      pad->value = (pad->value - zero_point) * quantisation.scales[0];
    }
  }

  // Returns a copy of the constant with this quantisation. Readers may give a constant different
  // ones.
  ValueId quantised_constant(ValueId id, const Quantisation& quantisation) {
    const auto [entry, is_new] =
        copies_.try_emplace({id, quantisation.scales, quantisation.zero_points, quantisation.axis});
    if (!is_new) return entry->second;
    Value copy = graph_.values[id];
    copy.quantisation = quantisation;
    return entry->second = graph_.add_value(std::move(copy));
  }

  graph::Graph& graph_;
  const PassContext& context_;
  Groups groups_;
  // The key consists of the constant and its parameters.
  std::map<std::tuple<ValueId, std::vector<float>, std::vector<int32_t>, uint32_t>, ValueId>
      copies_;
};

}  // namespace

Status recognise_quantisation(graph::Graph& graph, const PassContext& context) {
  if (!context.as_written) Recogniser(graph, context).run();
  return {};
}

}  // namespace millrace::lowering
