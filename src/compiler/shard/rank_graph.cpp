// Copies the graph node by node. Divided values get the shape of one part, and weights the slice of
// this rank. A product over a divided dimension gives partial sums: an AllReduce adds them,
// followed by the bias and the activation. A divided graph output is joined by an AllGather.
#include "compiler/shard/rank_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lowering/evaluate/evaluate.h"

namespace millrace::compiler {
namespace {

using graph::Dims;
using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

class RankGraph {
 public:
  RankGraph(const Graph& whole, const SplitPlan& plan, uint32_t rank, uint32_t ranks)
      : whole_(whole), plan_(plan), rank_(rank), ranks_(ranks) {}

  Result<Graph> make() {
    for (const ValueId id : whole_.inputs) graph_.inputs.push_back(part_of(id));
    for (uint32_t i = 0; i < whole_.nodes.size(); ++i) MILLRACE_RETURN_IF_ERROR(add(i));
    for (const ValueId id : whole_.outputs) deliver(id);
    MILLRACE_RETURN_IF_ERROR(graph::validate(graph_));
    return std::move(graph_);
  }

 private:
  // Returns the part of this rank of a value of the whole graph: a slice if the plan divides the
  // value, otherwise all of it.
  ValueId part_of(ValueId id) {
    if (id == kNoValue) return kNoValue;
    const auto [entry, is_new] = parts_.try_emplace({id, plan_.values[id]});
    if (!is_new) return entry->second;
    graph::Value value = whole_.values[id];
    if (const Split split = plan_.values[id]) {
      value.shape[*split] /= ranks_;
      // The name of an output belongs to the joined value.
      if (is_output(id)) value.name += ".part";
    }
    entry->second = graph_.add_value(std::move(value));
    return entry->second;
  }

  // Returns a value divided as a node needs it. If every rank has the whole value, the part is cut
  // out of it; a constant is cut now.
  Result<ValueId> part_of(ValueId id, Split wanted) {
    if (id == kNoValue || wanted == plan_.values[id]) return part_of(id);
    const auto entry = parts_.find({id, wanted});
    if (entry != parts_.end()) return entry->second;
    const graph::Value& value = whole_.values[id];
    const graph::Slice slice = cut(value.shape, *wanted);
    graph::Value part{value.name + ".part", value.type, slice.size, {}};
    if (value.constant) {
      const graph::Value* const operand = &value;
      MILLRACE_ASSIGN_OR_RETURN(graph::Value elements, lowering::evaluate(slice, {&operand, 1}));
      part.constant = std::move(elements.constant);
    }
    const ValueId made = graph_.add_value(std::move(part));
    if (!value.constant)
      graph_.nodes.push_back({value.name + ".cut", slice, {part_of(id)}, {made}});
    parts_[{id, wanted}] = made;
    return made;
  }

  graph::Slice cut(const Dims& shape, size_t dimension) const {
    graph::Slice slice{Dims(shape.size()), shape, Dims(shape.size(), 1)};
    slice.size[dimension] /= ranks_;
    slice.begin[dimension] = rank_ * slice.size[dimension];
    return slice;
  }

  Status add(uint32_t index) {
    const Node& whole = whole_.nodes[index];
    const Split result = plan_.values[whole.outputs[0]];
    const auto splits = operands_of(whole_, whole, plan_.partial[index], result, ranks_);
    Node node = whole;
    for (size_t slot = 0; slot < splits.size(); ++slot) {
      MILLRACE_ASSIGN_OR_RETURN(node.inputs[slot], part_of(whole.inputs[slot], splits[slot]));
    }
    for (ValueId& id : node.outputs) id = part_of(id);
    if (plan_.partial[index]) {
      add_partial(std::move(node));
      return {};
    }
    if (result) divide(node.op, *result);
    graph_.nodes.push_back(std::move(node));
    return {};
  }

  // Adapts the attributes that state a shape or the number of groups.
  void divide(graph::Operator& op, size_t dimension) const {
    if (auto* conv = std::get_if<graph::Conv>(&op)) conv->group /= ranks_;
    if (auto* reshape = std::get_if<graph::Reshape>(&op)) reshape->shape[dimension] /= ranks_;
    if (auto* expand = std::get_if<graph::Expand>(&op)) expand->shape[dimension] /= ranks_;
    if (auto* slice = std::get_if<graph::Slice>(&op)) slice->size[dimension] /= ranks_;
  }

  // Adds a product of which each rank has partial sums. Bias and activation are applied after the
  // sum over all ranks.
  void add_partial(Node node) {
    auto& op = std::get<graph::MatMul>(node.op);
    const ValueId result = node.outputs[0];
    const ValueId bias = node.input(2);
    const graph::Activation activation = std::exchange(op.activation, {});
    node.inputs.resize(2);
    const std::string name = node.name;
    // The values are named from the last step backwards: each step writes what the next one reads,
    // and the last one the result.
    const bool has_function = activation != graph::Activation{};
    const ValueId before_function = has_function ? like(result, ".biased") : result;
    const ValueId before_bias = bias != kNoValue ? like(result, ".sum") : before_function;
    node.outputs = {like(result, ".partial")};
    const ValueId partial = node.outputs[0];
    graph_.nodes.push_back(std::move(node));
    graph_.nodes.push_back(
        {name + ".all_reduce", collective("AllReduce"), {partial}, {before_bias}});
    if (bias != kNoValue)
      graph_.nodes.push_back({name + ".bias",
                              graph::Binary{graph::BinaryKind::kAdd},
                              {before_bias, bias},
                              {before_function}});
    if (has_function)
      graph_.nodes.push_back(
          {name + ".function", graph::Unary{activation}, {before_function}, {result}});
  }

  // Adds an output of the graph, joined from the parts of all ranks if it is divided.
  void deliver(ValueId id) {
    const Split split = plan_.values[id];
    if (!split) return graph_.outputs.push_back(part_of(id));
    const graph::Value& value = whole_.values[id];
    const ValueId joined = graph_.add_value(value);
    graph_.nodes.push_back({value.name + ".all_gather",
                            collective("AllGather", static_cast<int64_t>(*split)),
                            {part_of(id)},
                            {joined}});
    graph_.outputs.push_back(joined);
  }

  // Attributes must be in ascending order of their names.
  graph::Fallback collective(const char* type, Split axis = std::nullopt) const {
    graph::Fallback op{std::string("com.microsoft.") + type, {}};
    if (axis) op.attributes.push_back({"axis", static_cast<int64_t>(*axis)});
    op.attributes.push_back({"group_size", static_cast<int64_t>(ranks_)});
    return op;
  }

  // Adds a value with the type and shape of another, and its name with a suffix.
  ValueId like(ValueId id, const char* suffix) {
    graph::Value value = graph_.values[id];
    value.name += suffix;
    return graph_.add_value(std::move(value));
  }

  bool is_output(ValueId id) const {
    return std::find(whole_.outputs.begin(), whole_.outputs.end(), id) != whole_.outputs.end();
  }

  const Graph& whole_;
  const SplitPlan& plan_;
  const uint32_t rank_, ranks_;
  Graph graph_;
  std::map<std::pair<ValueId, Split>, ValueId> parts_;  // by value and split dimension
};

}  // namespace

Result<Graph> make_rank_graph(const Graph& graph, const SplitPlan& plan, uint32_t rank,
                              uint32_t ranks) {
  return RankGraph(graph, plan, rank, ranks).make();
}

}  // namespace millrace::compiler
