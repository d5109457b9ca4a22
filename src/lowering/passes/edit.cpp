// New nodes are appended to the graph, and Position keeps where they belong; order() sorts by it.
// Tables by value grow on use (grow()), since passes add values to the graph without the Editor.
#include "lowering/passes/edit.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

namespace millrace::lowering {

using graph::Node;
using graph::ValueId;

Editor::Editor(graph::Graph& graph) : graph_(graph), original_count_(graph.nodes.size()) {
  grow();
  for (ValueId id : graph_.outputs) is_output_[id] = true;
  for (Index index = 0; index < original_count_; ++index) {
    positions_.push_back({index, std::numeric_limits<uint32_t>::max(), false});
    for (const ValueId id : graph_.nodes[index].outputs) makers_[id] = index;
    add_reader(index);
  }
}

// Passes may add values at any time; the tables grow when they are next used.
void Editor::grow() {
  makers_.resize(graph_.values.size());
  readers_.resize(graph_.values.size());
  past_readers_.resize(graph_.values.size());
  is_output_.resize(graph_.values.size());
}

void Editor::add_reader(Index index) {
  grow();
  for (const ValueId id : graph_.nodes[index].inputs) {
    if (id == graph::kNoValue) continue;
    ++readers_[id];
    past_readers_[id].push_back(index);
  }
}

void Editor::drop_reader(const Node& node) {
  grow();
  for (const ValueId id : node.inputs)
    if (id != graph::kNoValue) --readers_[id];
}

std::vector<Editor::Index> Editor::nodes() const {
  std::vector<Index> indices;
  for (Index index = 0; index < original_count_; ++index) {
    if (!erased(index)) indices.push_back(index);
  }
  return indices;
}

std::optional<Editor::Index> Editor::maker(ValueId id) const {
  return id < makers_.size() ? makers_[id] : std::nullopt;
}

bool Editor::is_graph_output(ValueId id) const {
  return id < is_output_.size() && is_output_[id];
}

bool Editor::has_single_reader(ValueId id) const {
  return id < readers_.size() && readers_[id] == 1 && !is_output_[id];
}

ValueId Editor::add_value_like(ValueId id, std::string name) {
  const graph::Value& like = graph_.values[id];
  return graph_.add_value({std::move(name), like.type, like.shape, std::nullopt});
}

void Editor::set_inputs(Index index, std::vector<ValueId> inputs) {
  drop_reader(graph_.nodes[index]);
  graph_.nodes[index].inputs = std::move(inputs);
  add_reader(index);
}

void Editor::absorb_origins(Index into, Index from) {
  constexpr size_t kMostCopied = 16;  // bounds the work of a chain in which each node absorbs all
  const std::vector<graph::Origin>& kept = graph_.nodes[from].origins;
  add_origins(
      graph_.nodes[into],
      {kept.begin(), kept.begin() + static_cast<ptrdiff_t>(std::min(kept.size(), kMostCopied))});
}

void Editor::take_origins(Index into, Index from) {
  Node& node = graph_.nodes[into];
  std::vector<graph::Origin> taken = std::move(graph_.nodes[from].origins);
  if (taken.size() > node.origins.size()) taken.swap(node.origins);
  add_origins(node, std::move(taken));
}

void Editor::add_origins(Node& node, std::vector<graph::Origin> more) {
  for (graph::Origin& origin : more) {
    if (node.origins.size() >= kMaxOrigins) return;
    if (std::ranges::find(node.origins, origin) == node.origins.end())
      node.origins.push_back(std::move(origin));
  }
}

void Editor::absorb_origins_since(Index into, ValueId source) {
  std::set<Index> seen;
  std::vector<Index> open = {into};
  while (!open.empty()) {
    const Index index = open.back();
    open.pop_back();
    for (const ValueId id : graph_.nodes[index].inputs) {
      const auto from = id == source ? std::nullopt : maker(id);
      if (!from || !seen.insert(*from).second) continue;
      absorb_origins(into, *from);
      open.push_back(*from);
    }
  }
}

Editor::Index Editor::insert_before(Index index, Node node) {
  node.origins = graph_.nodes[index].origins;
  const auto inserted = static_cast<Index>(graph_.nodes.size());
  grow();
  for (const ValueId id : node.outputs) makers_[id] = inserted;
  positions_.push_back({index, inserted, false});
  graph_.nodes.push_back(std::move(node));
  add_reader(inserted);
  return inserted;
}

void Editor::erase(Index index) {
  const Node& node = graph_.nodes[index];
  drop_reader(node);
  for (const ValueId id : node.outputs) {
    if (makers_[id] == index) makers_[id].reset();
  }
  positions_[index].erased = true;
}

void Editor::release_unread(ValueId id) {
  grow();
  if (readers_[id] == 0 && !is_output_[id]) graph_.values[id].constant.reset();
}

void Editor::replace_uses(ValueId from, ValueId to) {
  grow();
  if (from == to) return;
  std::vector<Index>&past = past_readers_[from], &merged = past_readers_[to];
  for (const Index index : past)
    if (!erased(index)) std::ranges::replace(graph_.nodes[index].inputs, from, to);
  if (past.size() > merged.size()) past.swap(merged);
  merged.insert(merged.end(), past.begin(), past.end());
  past.clear();
  readers_[to] += readers_[from];
  readers_[from] = 0;
}

bool Editor::bypass(Index index, size_t slot) {
  const ValueId input = graph_.nodes[index].inputs[slot], output = graph_.nodes[index].outputs[0];
  if (!is_graph_output(output)) {
    replace_uses(output, input);
    erase(index);
    return true;
  }
  const auto source = maker(input);
  if (!source || is_graph_output(input)) {
    graph_.nodes[index].op = graph::Unary{};
    set_inputs(index, {input});
    return false;
  }
  erase(index);
  replace_uses(input, output);
  std::ranges::replace(graph_.nodes[*source].outputs, input, output);
  makers_[input].reset();
  makers_[output] = *source;
  return true;
}

void Editor::fuse(Index producer, Index consumer, Node fused) {
  const ValueId output = graph_.nodes[consumer].outputs[0];
  take_origins(consumer, producer);
  erase(producer);
  drop_reader(graph_.nodes[consumer]);
  fused.outputs = {output};
  fused.origins = std::move(graph_.nodes[consumer].origins);
  graph_.nodes[consumer] = std::move(fused);
  add_reader(consumer);
}

std::vector<Editor::Index> Editor::order() const {
  std::vector<Index> order(graph_.nodes.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::erase_if(order, [&](Index index) { return erased(index); });
  std::ranges::sort(order, {}, [&](Index index) {
    return std::tuple(positions_[index].before, positions_[index].sequence);
  });
  return order;
}

void Editor::finish() {
  grow();
  std::vector<Node> nodes;
  // Backwards, so that removing an unread node can make those before it unread.
  const std::vector<Index> kept = order();
  for (auto index = kept.rbegin(); index != kept.rend(); ++index) {
    Node& node = graph_.nodes[*index];
    const bool needed = std::ranges::any_of(
        node.outputs, [&](ValueId id) { return readers_[id] != 0 || is_output_[id]; });
    if (needed) {
      nodes.push_back(std::move(node));
    } else {
      drop_reader(node);
    }
  }
  std::ranges::reverse(nodes);
  graph_.nodes = std::move(nodes);
}

}  // namespace millrace::lowering
