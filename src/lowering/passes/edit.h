// Editor: changes the nodes of a graph for a pass, and knows at any time which node makes a value
// and how often it is read.
//
// Node indices stay valid while an Editor lives: an erased node keeps its index, and an inserted
// one gets a new index at the end. finish() restores the order of the graph. A pass may add values
// to the graph at any time and may change a node's operator directly; operands and outputs change
// through the Editor only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace millrace::lowering {

// A node has at most this many origins: the first of those that were merged. So a long chain that
// becomes one node, or many nodes, does not need memory that grows with the square of its length.
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
  // The nodes that the graph had at the start, in order, without those erased since.
  std::vector<Index> nodes() const;
  bool erased(Index index) const { return positions_[index].erased; }

  // The node that makes the value; nothing for graph inputs, constants and kNoValue.
  std::optional<Index> maker(graph::ValueId id) const;
  // The maker where its operator is an Op, else null.
  template <class Op>
  const Op* maker_as(graph::ValueId id) const {
    const auto index = maker(id);
    return index ? std::get_if<Op>(&graph_.nodes[*index].op) : nullptr;
  }
  bool is_graph_output(graph::ValueId id) const;
  // Whether the value is read by exactly one operand of one node, and is no graph output.
  bool has_single_reader(graph::ValueId id) const;

  // Adds a value of the same type and shape that no node makes yet.
  graph::ValueId add_value_like(graph::ValueId id, std::string name);

  void set_inputs(Index index, std::vector<graph::ValueId> inputs);
  // Inserts a node directly before `index`, which must be a node that the graph had at the start.
  // It has the origins of that node.
  Index insert_before(Index index, graph::Node node);
  void erase(Index index);
  // `into` also computes what `from` does, so it gets the origins of both. If a node merges many,
  // only the first few are copied, since each node of a long chain may have merged all before it.
  void absorb_origins(Index into, Index from);
  // Does the same where `from` is removed, and therefore gives all of its origins away.
  void take_origins(Index into, Index from);
  // The same for all nodes on the way from `source` to the operands of `into`. Requirement: those
  // operands are computed from `source` and constants alone.
  void absorb_origins_since(Index into, graph::ValueId source);
  // Gives up the elements of a constant where nothing reads it any more: a pass that makes another
  // of every weight would otherwise have all of them in memory twice.
  void release_unread(graph::ValueId id);
  // Every operand that reads `from` reads `to`; graph outputs stay.
  void replace_uses(graph::ValueId from, graph::ValueId to);

  // Removes a node whose output equals its operand `slot`. Where the output is a graph output that
  // the operand cannot replace, an Identity is left. Returns whether the node was removed.
  bool bypass(Index index, size_t slot = 0);
  // Replaces `consumer` by `fused`, which has the same output, and removes `producer`, whose output
  // only `consumer` read.
  void fuse(Index producer, Index consumer, graph::Node fused);

  // Removes erased nodes, and nodes none of whose outputs is read any more (as readers they would
  // hide from later passes that a value has a single reader), and orders the rest. The last call to
  // an Editor.
  void finish();

 private:
  struct Position {
    Index before = 0;       // the original node that this one is, or precedes
    uint32_t sequence = 0;  // among the nodes of one `before`
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
  // Indexed by value: all nodes that have ever read it, some of them more than once. With these the
  // uses of a value are replaced without a search through all nodes.
  std::vector<std::vector<Index>> past_readers_;
  std::vector<bool> is_output_;  // indexed by value
  size_t original_count_;
};

}  // namespace millrace::lowering
