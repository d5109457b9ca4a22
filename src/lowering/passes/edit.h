// Editor: changes the nodes of a graph on behalf of a pass, and maintains which node makes each
// value and how often it is read.
//
// Node indices stay valid as long as the Editor exists: an erased node keeps its index, and an
// inserted one gets a new index at the end. finish() restores the order of the graph. A pass may
// add values to the graph at any time, and may change a node's operator directly; it must change
// operands and outputs through the Editor. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace millrace::lowering {

// The most origins of a node; further ones are dropped. Otherwise a long chain of merged nodes
// could take memory that grows with the square of its length.
inline constexpr size_t kMaxOrigins = 256;

class Editor {
 public:
  using Index = uint32_t;

  explicit Editor(graph::Graph& graph);
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  graph::Graph& graph() noexcept { return graph_; }
  const graph::Value& value(graph::ValueId id) const { return graph_.values[id]; }
  graph::Node& node(Index index) { return graph_.nodes[index]; }
  // The nodes that the graph had when the Editor was made, in order, without erased ones.
  std::vector<Index> nodes() const;
  bool erased(Index index) const { return positions_[index].erased; }

  // The node that makes the value; nothing for graph inputs, constants and kNoValue.
  std::optional<Index> maker(graph::ValueId id) const;
  // The operator of the maker if it is an Op; null otherwise.
  template <class Op>
  const Op* maker_as(graph::ValueId id) const {
    const auto index = maker(id);
    return index ? std::get_if<Op>(&graph_.nodes[*index].op) : nullptr;
  }
  bool is_graph_output(graph::ValueId id) const;
  // Whether the value is read by exactly one operand of one node, and is no graph output.
  bool has_single_reader(graph::ValueId id) const;

  // Adds a value of the same type and shape, which no node makes yet.
  graph::ValueId add_value_like(graph::ValueId id, std::string name);

  void set_inputs(Index index, std::vector<graph::ValueId> inputs);
  // Inserts a node before `index`, after those that were inserted there already. Requirement: the
  // graph had node `index` when the Editor was made. The new node gets the origins of that node.
  Index insert_before(Index index, graph::Node node);
  void erase(Index index);
  // Adds the origins of `from` to those of `into`, which also computes what `from` does. Only the
  // first few are copied, since each node of a long chain may have absorbed all nodes before it.
  void absorb_origins(Index into, Index from);
  // Moves all origins of `from`, which is about to be removed, to `into`.
  void take_origins(Index into, Index from);
  // Calls absorb_origins() for all nodes between `source` and the operands of `into`. Requirement:
  // those operands are computed from `source` and constants alone.
  void absorb_origins_since(Index into, graph::ValueId source);
  // Frees the elements of a constant if nothing reads it any more. Otherwise a pass that replaces
  // every weight would have all weights in memory twice.
  void release_unread(graph::ValueId id);
  // Replaces `from` by `to` in all operands, but not in the outputs of the graph.
  void replace_uses(graph::ValueId from, graph::ValueId to);

  // Removes a node whose output equals its operand `slot`. If the output is a graph output which
  // the operand cannot replace, the node becomes an Identity instead. Returns whether the node was
  // removed.
  bool bypass(Index index, size_t slot = 0);
  // Replaces `consumer` by `fused`, which has the same output, and removes `producer`. Requirement:
  // only `consumer` reads the output of `producer`.
  void fuse(Index producer, Index consumer, graph::Node fused);

  // Removes erased nodes and nodes without a read output, and orders the rest. (An unread node
  // would count as a reader of its operands, and hide from later passes that these have a single
  // reader.) It must be the last call to an Editor.
  void finish();

 private:
  struct Position {
    Index before = 0;       // the original node that this node is, or precedes
    uint32_t sequence = 0;  // the order among the nodes with the same `before`
    bool erased = false;
  };

  std::vector<Index> order() const;  // all nodes that are not erased
  static void add_origins(graph::Node& node, std::vector<graph::Origin> more);
  void add_reader(Index index);
  void drop_reader(const graph::Node& node);
  void grow();

  graph::Graph& graph_;
  std::vector<Position> positions_;
  std::vector<std::optional<Index>> makers_;  // by value
  std::vector<int> readers_;                  // by value: operands that read it
  // By value: all nodes that have ever read it, some of them several times. They let replace_uses()
  // find the uses of a value without a search through all nodes.
  std::vector<std::vector<Index>> past_readers_;
  std::vector<bool> is_output_;  // by value
  size_t original_count_;
};

}  // namespace millrace::lowering
