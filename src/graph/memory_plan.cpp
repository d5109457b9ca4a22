// Memory planning as offset calculation. Lifetimes that take over each other's memory (in place)
// are first joined to blocks. Then blocks are placed by first fit in descending order of size, as
// "greedy by size" of Pisarchyk and Lee (Efficient Memory Management for Deep Neural Net Inference,
// 2020), except that the lowest gap that fits is taken. For very many blocks, place_by_time() is
// used instead.
#include "graph/memory_plan.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/align.h"
#include "graph/arena_blocks.h"
#include "graph/in_place.h"

namespace millrace::graph {
namespace {

// First fit compares a block with all blocks that were placed before it, in O(n^2) steps. Above
// this number of blocks, which means tens of millions of comparisons, they are placed in the order
// of time. Typical trained models have a few thousand.
constexpr size_t kMostCompared = 8192;

bool overlap_in_time(const Block& a, const Block& b) {
  return a.first <= b.last && b.first <= a.last;
}

// The blocks, and for each lifetime the index of its block.
struct Chains {
  std::vector<Block> blocks;
  std::vector<size_t> block_of;
};

// Joins each lifetime to the block of the lifetime whose memory it takes over, where that is valid
// (Lifetime::in_place_of).
Chains join_chains(std::span<const Lifetime> lifetimes) {
  Chains chains;
  std::vector<bool> taken(lifetimes.size());
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    const Lifetime& life = lifetimes[i];
    const size_t bytes = align_up(life.bytes, kArenaAlignment);
    const bool joins = life.in_place_of && *life.in_place_of < i && !taken[*life.in_place_of] &&
                       life.first >= lifetimes[*life.in_place_of].last;
    if (!joins) {
      chains.block_of.push_back(chains.blocks.size());
      chains.blocks.push_back({bytes, life.first, life.last});
      continue;
    }
    taken[*life.in_place_of] = true;
    Block& block = chains.blocks[chains.block_of[*life.in_place_of]];
    block.bytes = std::max(block.bytes, bytes);
    block.last = std::max(block.last, life.last);
    chains.block_of.push_back(chains.block_of[*life.in_place_of]);
  }
  return chains;
}

// Returns the lowest offset at which `block` fits between the live blocks of `placed`, which is
// sorted by offset.
size_t first_fit(const Block& block, std::span<const Block* const> placed) {
  size_t offset = 0;
  for (const Block* other : placed) {
    if (!overlap_in_time(block, *other)) continue;
    if (other->offset >= saturating_add(offset, block.bytes)) break;
    offset = std::max(offset, saturating_add(other->offset, other->bytes));
  }
  return offset;
}

std::vector<Block*> by_size(std::vector<Block>& blocks) {
  std::vector<Block*> sorted;
  sorted.reserve(blocks.size());
  for (Block& block : blocks) sorted.push_back(&block);
  std::ranges::stable_sort(sorted, std::ranges::greater(), &Block::bytes);
  return sorted;
}

// Gives every block its offset, by first fit in descending order of size, and returns the size of
// the arena.
size_t place_compactly(std::vector<Block>& blocks) {
  std::vector<const Block*> placed;
  size_t arena_bytes = 0;
  for (Block* const each : by_size(blocks)) {
    Block& block = *each;
    block.offset = first_fit(block, placed);
    arena_bytes = std::max(arena_bytes, saturating_add(block.offset, block.bytes));
    const auto before = [](const Block* a, const Block* b) { return a->offset < b->offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &block, before), &block);
  }
  return arena_bytes;
}

// Gives every block its offset, for Placement::kCentred, and returns the size of the arena. Blocks
// that are not in use at the same time share a slot, which has the size of its first and largest
// block, and lie centred in it.
size_t place_centred(std::vector<Block>& blocks) {
  struct Slot {
    size_t offset;
    std::vector<const Block*> blocks;
  };
  std::vector<Slot> slots;
  size_t arena_bytes = 0;
  for (Block* const block : by_size(blocks)) {
    auto slot = std::ranges::find_if(slots, [&](const Slot& each) {
      return std::ranges::none_of(
          each.blocks, [&](const Block* other) { return overlap_in_time(*block, *other); });
    });
    if (slot == slots.end()) {
      slot = slots.insert(slot, {arena_bytes, {}});
      arena_bytes = saturating_add(arena_bytes, block->bytes);
    }
    const size_t size = slot->blocks.empty() ? block->bytes : slot->blocks.front()->bytes;
    block->offset = slot->offset + (size - block->bytes) / 2 / kArenaAlignment * kArenaAlignment;
    slot->blocks.push_back(block);
  }
  return arena_bytes;
}

constexpr size_t kCache = 0, kUpdate = 1;  // operands of TensorScatter

// Whether the node is a TensorScatter whose kernel, if the memory of its output is that of its
// cache, writes the rows of the update only. The update must not be part of the cache.
bool writes_rows(const Node& node) {
  const auto* const other = std::get_if<Fallback>(&node.op);
  return other != nullptr && other->name == "TensorScatter" &&
         node.input(kUpdate) != node.input(kCache);
}

}  // namespace

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes, Placement placement) {
  Chains chains = join_chains(lifetimes);
  const bool few = chains.blocks.size() <= kMostCompared;
  MemoryPlan plan;
  plan.arena_bytes = few ? place_compactly(chains.blocks) : place_by_time(chains.blocks);
  if (few && placement == Placement::kCentred) {
    std::vector<Block> centred = chains.blocks;
    const size_t bytes = place_centred(centred);
    if (bytes <= saturating_add(plan.arena_bytes, plan.arena_bytes / 2)) {
      plan.arena_bytes = bytes;
      chains.blocks = std::move(centred);
    }
  }
  plan.offsets.reserve(lifetimes.size());
  for (size_t block : chains.block_of) plan.offsets.push_back(chains.blocks[block].offset);
  return plan;
}

InPlaceOperands::InPlaceOperands(const Graph& graph)
    : graph_(graph), is_boundary_(graph.values.size()) {
  for (const auto* ids : {&graph.inputs, &graph.outputs})
    for (const ValueId id : *ids) is_boundary_[id] = true;
}

// Whether the operand lies in the arena, may be overwritten once its readers have run, and has the
// type and shape of the output.
bool InPlaceOperands::can_hold_output(const Node& node, size_t index) const {
  const ValueId id = node.input(index);
  if (id == kNoValue || is_boundary_[id]) return false;
  const Value &operand = graph_.values[id], &output = graph_.values[node.outputs[0]];
  return !operand.constant && operand.type == output.type && operand.shape == output.shape;
}

std::optional<size_t> InPlaceOperands::of(const Node& node) const {
  if (std::holds_alternative<Conv>(node.op)) {
    constexpr size_t kResidual = 3;
    // The residual must not be the source as well, which is read again for every output pixel.
    const bool also_source = node.input(kResidual) == node.input(0);
    if (!also_source && can_hold_output(node, kResidual)) return kResidual;
    return std::nullopt;
  }
  if (std::holds_alternative<Fallback>(node.op))
    return writes_rows(node) && can_hold_output(node, kCache) ? std::optional(kCache)
                                                              : std::nullopt;
  if (!std::holds_alternative<Unary>(node.op) && !std::holds_alternative<Binary>(node.op)) {
    return std::nullopt;
  }
  for (size_t index = 0; index < node.inputs.size(); ++index) {
    if (can_hold_output(node, index)) return index;
  }
  return std::nullopt;
}

std::optional<size_t> in_place_operand(const Graph& graph, const Node& node) {
  return InPlaceOperands(graph).of(node);
}

bool is_updated_in_place(const Graph& graph, ValueId input, ValueId output) {
  bool is_updated = false;
  for (const Node& node : graph.nodes) {
    const auto reads = std::ranges::count(node.inputs, input);
    if (reads == 0) continue;
    if (is_updated || reads > 1 || node.input(kCache) != input || !writes_rows(node) ||
        node.outputs[0] != output)
      return false;
    is_updated = true;
  }
  return is_updated && std::ranges::count(graph.outputs, input) == 0;
}

}  // namespace millrace::graph
