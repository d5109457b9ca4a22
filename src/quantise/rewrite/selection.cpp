// A node passes two tests: can_be_quantised() looks at the node and its operands alone, and class
// Selector at its neighbours.
#include "quantise/rewrite/selection.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lowering/passes/bounds.h"

namespace millrace::quantise {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::UnaryKind;
using graph::Value;
using graph::ValueId;
using tensor::DataType;

constexpr size_t kWeight = 1, kBias = 2, kResidual = 3;

// Whether the value is a FLOAT32 constant without NaN or infinity, so that it can be quantised.
bool is_float_constant(const Value& value) {
  return value.constant && value.type == DataType::kFloat32 &&
         std::ranges::all_of(value.constant->as<float>(),
                             [](float element) { return std::isfinite(element); });
}

// Whether the value is computed in FLOAT32 and not quantised yet.
bool is_activation(const Graph& graph, ValueId id) {
  const Value& value = graph.values[id];
  return !value.constant && value.type == DataType::kFloat32 && !value.quantisation &&
         value.elements() > 0;
}

// Whether the operand is absent, or a bias with one constant element per channel of the result.
bool is_bias(const Graph& graph, ValueId id, int64_t channels) {
  if (id == kNoValue) return true;
  const Value& bias = graph.values[id];
  return is_float_constant(bias) && static_cast<int64_t>(bias.elements()) == channels &&
         (bias.shape.empty() || bias.shape.back() == channels);
}

// The overloads of fits() check what is specific to an operator; the operands that are activations
// are checked already.
bool fits(const Graph& graph, const Node& node, const graph::Conv&) {
  const Value& weight = graph.values[node.inputs[kWeight]];
  return is_float_constant(weight) && is_bias(graph, node.input(kBias), weight.shape[0]);
}

bool fits(const Graph& graph, const Node& node, const graph::MatMul& op) {
  const Value& b = graph.values[node.inputs[kWeight]];
  const size_t rank = b.shape.size();
  if (graph.values[node.inputs[0]].shape.size() < 2 || rank < 2) return false;
  const int64_t columns = b.shape[op.transpose_b ? rank - 2 : rank - 1];
  // A constant must have rank 2: scales per channel of the result are along one of its dimensions.
  if (b.constant ? !is_float_constant(b) || rank != 2 : b.type != DataType::kFloat32) return false;
  return is_bias(graph, node.input(kBias), columns);
}

bool fits(const Graph&, const Node&, const graph::Binary& op) {
  using graph::BinaryKind;
  return op.kind == BinaryKind::kAdd || op.kind == BinaryKind::kSub || op.kind == BinaryKind::kMul;
}

// Functions whose results are bounded or grow at most linearly with the operand, so that eight bits
// cover their range well.
bool fits(const Graph&, const Node&, const graph::Unary& op) {
  static constexpr UnaryKind kKinds[] = {
      UnaryKind::kIdentity,  UnaryKind::kRelu,    UnaryKind::kClip, UnaryKind::kLeakyRelu,
      UnaryKind::kElu,       UnaryKind::kSigmoid, UnaryKind::kTanh, UnaryKind::kHardSigmoid,
      UnaryKind::kHardSwish, UnaryKind::kSwish,   UnaryKind::kGelu, UnaryKind::kAbs,
      UnaryKind::kNeg,       UnaryKind::kLinear};
  return std::ranges::find(kKinds, op.function.kind) != std::end(kKinds);
}

bool fits(const Graph&, const Node&, const graph::Pad& op) {
  return op.mode != graph::PadMode::kConstant || op.value == 0;
}

template <class Op>
bool fits(const Graph&, const Node&, const Op&) {
  using namespace graph;
  return std::is_same_v<Op, Pool> || std::is_same_v<Op, GlobalPool> || std::is_same_v<Op, Concat> ||
         std::is_same_v<Op, Resize> || std::is_same_v<Op, Reshape> ||
         std::is_same_v<Op, Transpose> || std::is_same_v<Op, Slice>;
}

// Whether the node can compute on quantised values, whatever is around it.
bool can_be_quantised(const Graph& graph, const Node& node) {
  if (node.outputs.size() != 1 || !is_activation(graph, node.outputs[0])) return false;
  const auto slots = activation_slots(graph, node);
  if (slots.empty() || slots[0] != 0) return false;
  return std::ranges::all_of(
             slots, [&](size_t slot) { return is_activation(graph, node.inputs[slot]); }) &&
         std::visit([&](const auto& op) { return fits(graph, node, op); }, node.op);
}

// Starts with all candidates and drops nodes until a fixed point: dropping one may leave others
// between floating point nodes.
class Selector {
 public:
  Selector(const Graph& graph, const SelectionOptions& options)
      : graph_(graph), options_(options), readers_(graph::consumers_of(graph)) {
    maker_.resize(graph.values.size());
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      for (const ValueId id : graph.nodes[i].outputs) maker_[id] = i;
  }

  Selection select() {
    choose_candidates();
    while (drop_islands()) {
    }
    mark_values();
    return std::move(selection_);
  }

 private:
  bool stays_float(size_t index) const {
    return (!options_.float_nodes.empty() && options_.float_nodes[index]) ||
           !lowering::matching_names(graph_.nodes[index], options_.float_names).empty();
  }

  // Selects all nodes that can be quantised and are not after the last Conv or MatMul. The nodes
  // are visited in reverse order.
  void choose_candidates() {
    selection_.nodes.assign(graph_.nodes.size(), false);
    // By value: whether a Conv or a MatMul, or with quantise_outputs an output, depends on it.
    std::vector<bool> needed(graph_.values.size());
    if (options_.quantise_outputs)
      for (const ValueId id : graph_.outputs) needed[id] = true;
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      const bool in_body =
          is_conv_or_matmul(node) ||
          std::ranges::any_of(node.outputs, [&](ValueId id) { return needed[id]; });
      if (!in_body) continue;
      for (const ValueId id : node.inputs)
        if (id != kNoValue) needed[id] = true;
      selection_.nodes[i] = !stays_float(i) && can_be_quantised(graph_, node);
    }
  }

  // Drops nodes without weights that would add conversions. Returns whether there were any.
  bool drop_islands() {
    mark_values();
    bool dropped = false;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (!selection_.nodes[i] || is_conv_or_matmul(node)) continue;
      const auto slots = activation_slots(graph_, node);
      const bool reads =
          std::ranges::all_of(slots, [&](size_t slot) { return is_available(node.inputs[slot]); });
      if (reads && gives_integers(node)) continue;
      selection_.nodes[i] = false;
      dropped = true;
    }
    return dropped;
  }

  // Whether the result is stored as integers, at once or after the Relu or Clip that reads it.
  bool gives_integers(const Node& node) const {
    const ValueId y = node.outputs[0];
    if (selection_.values[y]) return true;
    return readers_[y].size() == 1 && selection_.nodes[readers_[y][0]] &&
           is_fused_clip(graph_.nodes[readers_[y][0]]);
  }

  // Whether the value is a graph input, a selected node makes it, or a selected Conv or MatMul
  // reads it, so that it is quantised anyway.
  bool is_available(ValueId id) const {
    return !maker_[id] || selection_.nodes[*maker_[id]] || for_product_[id];
  }

  // Whether the node is a Relu or a Clip that alone reads the result of a selected Binary. Only the
  // result of the Relu or Clip is then quantised: integer kernels apply it by saturation.
  bool is_fused_clip(const Node& node) const {
    const auto* unary = std::get_if<graph::Unary>(&node.op);
    if (unary == nullptr || !lowering::bounds_of(unary->function)) return false;
    const ValueId x = node.inputs[0];
    return maker_[x] && selection_.nodes[*maker_[x]] && readers_[x].size() == 1 &&
           std::holds_alternative<graph::Binary>(graph_.nodes[*maker_[x]].op) && !is_output(x);
  }

  bool is_output(ValueId id) const {
    return std::ranges::find(graph_.outputs, id) != graph_.outputs.end();
  }

  // Sets selection_.values and for_product_ to the activations that selected nodes read.
  void mark_values() {
    selection_.values.assign(graph_.values.size(), false);
    for_product_.assign(graph_.values.size(), false);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (!selection_.nodes[i]) continue;
      for (const size_t slot : activation_slots(graph_, node)) {
        if (is_fused_clip(node)) continue;
        selection_.values[node.inputs[slot]] = true;
        if (is_conv_or_matmul(node)) for_product_[node.inputs[slot]] = true;
      }
    }
    if (!options_.quantise_outputs) return;
    for (const ValueId id : graph_.outputs)
      if (maker_[id] && selection_.nodes[*maker_[id]]) selection_.values[id] = true;
  }

  const Graph& graph_;
  const SelectionOptions& options_;
  std::vector<std::optional<size_t>> maker_;          // by value
  const std::vector<std::vector<uint32_t>> readers_;  // by value
  std::vector<bool> for_product_;  // by value: a selected Conv or MatMul reads it
  Selection selection_;
};

}  // namespace

bool Selection::empty() const noexcept {
  return std::ranges::find(nodes, true) == nodes.end();
}

bool is_conv_or_matmul(const Node& node) noexcept {
  return std::holds_alternative<graph::Conv>(node.op) ||
         std::holds_alternative<graph::MatMul>(node.op);
}

std::vector<size_t> activation_slots(const Graph& graph, const Node& node) {
  std::vector<size_t> slots;
  const bool is_conv = std::holds_alternative<graph::Conv>(node.op);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue) continue;
    if (is_conv && i != 0 && i != kResidual) continue;
    if (std::holds_alternative<graph::MatMul>(node.op) &&
        (i == kBias || (i == kWeight && graph.values[node.inputs[i]].constant)))
      continue;
    slots.push_back(i);
  }
  return slots;
}

Result<Selection> select_nodes(const Graph& graph, const SelectionOptions& options) {
  MILLRACE_RETURN_IF_ERROR(
      lowering::check_names(graph, options.float_names, "to keep in floating point"));
  return Selector(graph, options).select();
}

}  // namespace millrace::quantise
