// A Transpose and its readers are grown to a region: operators whose computation does not depend on
// the order of dimensions, and whose operands are results of the region, results of Transposes with
// the same permutation, or constants. The operators of the region then read the operands of the
// Transposes, and each result gets a Transpose instead. That is not needed if all readers of the
// result are in the region, are Transposes that undo it, or are Reduces that can list other axes. A
// region is moved if this reduces the number of transposed elements or, for as many elements, the
// number of Transposes.
#include <algorithm>
#include <compare>
#include <set>
#include <unordered_map>

#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::Dims;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using Index = Editor::Index;

// Limits on nodes of a region, readers of a value and operands of a node. They bound the time for a
// graph of any form.
constexpr size_t kMostInRegion = 64, kMostReaders = 64, kMostOperands = 64;

// Converts entries by dimension of the transposed tensor to entries by dimension of the tensor
// before the Transpose.
template <class T>
std::vector<T> before(const std::vector<T>& entries, const Dims& permutation) {
  std::vector<T> result(entries.size());
  for (size_t i = 0; i < entries.size(); ++i)
    result[static_cast<size_t>(permutation[i])] = entries[i];
  return result;
}

int64_t before(int64_t axis, const Dims& permutation) {
  return permutation[static_cast<size_t>(axis)];
}

Dims axes_before(const Dims& axes, const Dims& permutation) {
  Dims result;
  for (const int64_t axis : axes) result.push_back(before(axis, permutation));
  std::ranges::sort(result);
  return result;
}

// Returns the operator that computes the same on the tensor before the Transpose; nothing if the
// operator cannot be moved.
struct Moved {
  const Dims& permutation;

  using Result = std::optional<graph::Operator>;
  Result operator()(const graph::Unary& op) const { return op; }
  Result operator()(const graph::Binary& op) const { return op; }
  Result operator()(const graph::Cast& op) const { return op; }
  Result operator()(graph::Softmax op) const {
    op.axis = before(op.axis, permutation);
    return op;
  }
  Result operator()(graph::Concat op) const {
    op.axis = before(op.axis, permutation);
    return op;
  }
  Result operator()(graph::Pad op) const {
    op.begin = before(op.begin, permutation);
    op.end = before(op.end, permutation);
    return op;
  }
  Result operator()(graph::Slice op) const {
    op.begin = before(op.begin, permutation);
    op.size = before(op.size, permutation);
    op.step = before(op.step, permutation);
    return op;
  }
  Result operator()(graph::Reduce op) const {
    op.axes = axes_before(op.axes, permutation);
    return op.keep_dims ? Result(op) : std::nullopt;
  }
  template <class Op>
  Result operator()(const Op&) const {
    return std::nullopt;
  }
};

// Returns the Reduce that computes the same on the tensor before the Transpose: possible without
// keep_dims, if the remaining dimensions have the same order. Nothing otherwise.
std::optional<graph::Reduce> absorbing(const Node& node, const Dims& permutation) {
  const auto* op = std::get_if<graph::Reduce>(&node.op);
  if (op == nullptr || op->keep_dims) return std::nullopt;
  int64_t previous = -1;
  for (int64_t i = 0; i < static_cast<int64_t>(permutation.size()); ++i) {
    if (std::ranges::binary_search(op->axes, i)) continue;
    if (before(i, permutation) < previous) return std::nullopt;
    previous = before(i, permutation);
  }
  graph::Reduce result = *op;
  result.axes = axes_before(op->axes, permutation);
  return result;
}

class Sinking {
 public:
  explicit Sinking(graph::Graph& graph)
      : editor_(graph), readers_(graph.values.size()), originals_(graph.nodes.size()) {
    for (Index index = 0; index < originals_; ++index) note_reader(index);
  }

  void run() {
    for (const Index index : editor_.nodes()) visit(index);
    editor_.finish();
  }

 private:
  // A set of nodes that is moved before its entries, Transposes with one permutation.
  struct Region {
    Dims permutation;
    std::set<Index> entries;    // the Transposes
    std::set<Index> nodes;      // the nodes that are moved
    std::set<ValueId> results;  // of entries and nodes
  };

  void note_reader(Index index) {
    for (const ValueId id : editor_.node(index).inputs)
      if (id != kNoValue && id < readers_.size()) readers_[id].insert(index);
  }
  void forget_reader(Index index) {
    for (const ValueId id : editor_.node(index).inputs)
      if (id != kNoValue && id < readers_.size()) readers_[id].erase(index);
  }
  void set_inputs(Index index, std::vector<ValueId> inputs) {
    forget_reader(index);
    editor_.set_inputs(index, std::move(inputs));
    note_reader(index);
  }
  // Erases a node whose result is no longer read. It would otherwise count as a Transpose to save.
  void erase_unread(Index index) {
    // pass_on() has already erased an entry that undoes a result of its own region.
    if (editor_.erased(index)) return;
    const ValueId id = editor_.node(index).outputs[0];
    if (!readers_[id].empty() || editor_.is_graph_output(id)) return;
    forget_reader(index);
    editor_.erase(index);
  }

  const graph::Transpose* transpose_at(Index index) {
    return std::get_if<graph::Transpose>(&editor_.node(index).op);
  }

  void visit(Index index) {
    if (editor_.erased(index)) return;
    const graph::Transpose* op = transpose_at(index);
    if (op == nullptr || std::ranges::is_sorted(op->permutation)) return;
    Region region{op->permutation, {index}, {}, {editor_.node(index).outputs[0]}};
    if (!is_movable(editor_.node(index).outputs[0])) return;
    grow(region);
    if (!region.nodes.empty() && saves(region)) apply(region);
  }

  bool is_movable(ValueId id) const {
    return id < readers_.size() && !editor_.value(id).quantisation &&
           readers_[id].size() <= kMostReaders;
  }

  // Adds readers of results, and the Transposes that make their other operands, until the region is
  // complete or has the most nodes.
  void grow(Region& region) {
    std::vector<ValueId> open(region.results.begin(), region.results.end());
    while (!open.empty()) {
      const ValueId id = open.back();
      open.pop_back();
      for (const Index reader : readers_[id]) {
        if (region.nodes.size() == kMostInRegion) return;
        if (region.nodes.contains(reader) || !joins(reader, region)) continue;
        region.nodes.insert(reader);
        for (const ValueId operand : editor_.node(reader).inputs) {
          // Another Transpose enters the region, so readers of its result may join, too.
          if (region.results.contains(operand) || editor_.value(operand).constant) continue;
          region.entries.insert(*editor_.maker(operand));
          region.results.insert(operand);
          open.push_back(operand);
        }
        region.results.insert(editor_.node(reader).outputs[0]);
        open.push_back(editor_.node(reader).outputs[0]);
      }
    }
  }

  bool joins(Index index, const Region& region) {
    if (index >= originals_) return false;
    const Node& node = editor_.node(index);
    if (node.inputs.size() > kMostOperands || !is_movable(node.outputs[0])) return false;
    if (!std::visit(Moved{region.permutation}, node.op)) return false;
    return std::ranges::all_of(node.inputs, [&](ValueId id) { return may_be_read(id, region); });
  }

  bool may_be_read(ValueId id, const Region& region) {
    if (id == kNoValue) return false;
    if (region.results.contains(id)) return true;
    const graph::Value& value = editor_.value(id);
    if (value.constant) return has_any_order(value, region.permutation.size());
    const auto* op = editor_.maker_as<graph::Transpose>(id);
    return op != nullptr && op->permutation == region.permutation && is_movable(id);
  }

  // Whether the elements of a constant are in the same order for any order of dimensions: at most
  // one dimension is not 1.
  static bool has_any_order(const graph::Value& value, size_t rank) {
    const auto wide = std::ranges::count_if(value.shape, [](int64_t dim) { return dim != 1; });
    return !value.quantisation && wide <= 1 && value.shape.size() <= rank;
  }

  // Whether a reader of a result of the region needs it transposed.
  bool needs_order(Index reader, const Region& region) {
    // An entry keeps reading its own operand, and moved nodes will read that instead of its result.
    if (region.entries.contains(reader)) return true;
    if (region.nodes.contains(reader) || absorbing(editor_.node(reader), region.permutation))
      return false;
    const graph::Transpose* next = transpose_at(reader);
    return next == nullptr || !undoes(*next, region.permutation);
  }
  static bool undoes(const graph::Transpose& next, const Dims& permutation) {
    for (size_t i = 0; i < permutation.size(); ++i)
      if (before(next.permutation[i], permutation) != static_cast<int64_t>(i)) return false;
    return true;
  }
  bool is_needed(ValueId id, const Region& region) {
    return editor_.is_graph_output(id) || std::ranges::any_of(readers_[id], [&](Index reader) {
             return needs_order(reader, region);
           });
  }

  // The transposed elements, and then Transposes, that are saved, less those that are added.
  struct Savings {
    double elements = 0;
    int transposes = 0;

    auto operator<=>(const Savings&) const = default;
  };
  void count(ValueId id, int sign, Savings& savings) const {
    savings.elements += sign * static_cast<double>(editor_.value(id).elements());
    savings.transposes += sign;
  }

  bool saves(const Region& region) {
    Savings savings;
    for (const Index entry : region.entries) {
      const ValueId id = editor_.node(entry).outputs[0];
      if (!is_needed(id, region)) count(id, 1, savings);
    }
    for (const Index index : region.nodes) {
      const ValueId id = editor_.node(index).outputs[0];
      if (is_needed(id, region)) count(id, -1, savings);
      for (const Index reader : readers_[id])
        if (const auto* next = transpose_at(reader);
            next && !region.entries.contains(reader) && undoes(*next, region.permutation))
          count(id, 1, savings);
    }
    return savings > Savings();
  }

  // Inserts each node anew, on untransposed operands, and turns the node itself into a Transpose of
  // the new result. Then gives the untransposed results to readers that can do without the
  // Transpose.
  void apply(const Region& region) {
    std::unordered_map<ValueId, ValueId> sources;
    for (const Index entry : region.entries)
      sources[editor_.node(entry).outputs[0]] = editor_.node(entry).inputs[0];
    for (const Index index : region.nodes) {
      const ValueId result = editor_.node(index).outputs[0];
      sources[result] = move(index, region.permutation, sources);
    }
    for (const ValueId result : region.results)
      for (const Index reader : std::set<Index>(readers_[result]))
        pass_on(reader, sources.at(result), region.permutation);
    for (const Index entry : region.entries) erase_unread(entry);
  }

  ValueId move(Index index, const Dims& permutation,
               std::unordered_map<ValueId, ValueId>& sources) {
    const Node node = editor_.node(index);
    std::vector<ValueId> operands;
    for (const ValueId id : node.inputs) {
      const auto source = sources.find(id);
      operands.push_back(source != sources.end() ? source->second : untransposed(id, permutation));
    }
    const ValueId moved = editor_.add_value_like(node.outputs[0], node.name + ".sunk");
    graph::Value& value = editor_.graph().values[moved];
    value.shape = before(value.shape, permutation);
    note_reader(editor_.insert_before(
        index,
        {node.name, *std::visit(Moved{permutation}, node.op), std::move(operands), {moved}}));
    editor_.node(index).op = graph::Transpose{permutation};
    set_inputs(index, {moved});
    return moved;
  }

  ValueId untransposed(ValueId id, const Dims& permutation) {
    const graph::Value value = editor_.value(id);
    if (value.elements() == 1) return id;
    Dims shape(permutation.size() - value.shape.size(), 1);
    shape.insert(shape.end(), value.shape.begin(), value.shape.end());
    return editor_.graph().add_constant(value.name + ".sunk", value.type,
                                        before(shape, permutation), *value.constant);
  }

  // Lets a reader of a transposed result read `source`, the untransposed one: the reader itself if
  // it is a Reduce that can, or the readers of its result if it is a Transpose that undoes the
  // permutation.
  void pass_on(Index reader, ValueId source, const Dims& permutation) {
    if (const auto op = absorbing(editor_.node(reader), permutation)) {
      editor_.node(reader).op = *op;
      set_inputs(reader, {source});
    }
    const graph::Transpose* next = transpose_at(reader);
    if (next == nullptr || !undoes(*next, permutation)) return;
    const ValueId undone = editor_.node(reader).outputs[0];
    if (undone >= readers_.size()) return;
    for (const Index index : std::set<Index>(readers_[undone])) {
      std::vector<ValueId> inputs = editor_.node(index).inputs;
      std::ranges::replace(inputs, undone, source);
      set_inputs(index, std::move(inputs));
    }
    erase_unread(reader);
  }

  Editor editor_;
  // By value, for the values that the graph had at the start: the nodes that read it.
  std::vector<std::set<Index>> readers_;
  const size_t originals_;  // the number of nodes that the graph had at the start
};

}  // namespace

Status sink_transposes(graph::Graph& graph, const PassContext&) {
  Sinking(graph).run();
  return {};
}

}  // namespace millrace::lowering
