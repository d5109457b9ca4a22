// check_plan(): replays the steps of the graph on the arena. Values become live when they are made
// and dead after the last step that reads them; a map of the live ranges, sorted by offset, finds
// overlaps in O(log n) per value. A step that may run in place (graph/in_place.h) frees its operand
// before its output is placed.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "graph/archive/check.h"
#include "graph/archive/codec.h"
#include "graph/in_place.h"
#include "graph/memory_plan.h"
#include "graph/partitions.h"

namespace millrace::graph {
namespace {

// The least number of bytes that the value takes as a dense tensor if the node that makes it
// computes in this precision: with BF16 or FP16, floating-point elements may take two bytes.
uint64_t least_bytes(const Value& value, Precision precision) {
  size_t size = tensor::size_of(value.type);
  if (tensor::fits_float32(value.type))
    size = std::min(size, tensor::size_of(storage_type(precision)));
  return value.elements() * size;
}

// Returns for each value the precision of the node that makes it.
std::vector<Precision> value_precisions(const CompiledModel& model) {
  const auto of_nodes = node_precisions(model.graph, model.partitions, model.precision);
  std::vector<Precision> precisions(model.graph.values.size(), model.precision);
  for (size_t i = 0; i < of_nodes.size(); ++i)
    for (const ValueId id : model.graph.nodes[i].outputs) precisions[id] = of_nodes[i];
  return precisions;
}

Status check_range(const CompiledModel& model, const PlannedValue& range, Precision precision) {
  const Value& value = model.graph.values[range.value];
  if (value.constant) return corrupt_data("a constant does not belong in the arena");
  if (range.offset % kArenaAlignment != 0) {
    return corrupt_data(
        fmt::format("its offset {} is not a multiple of {}", range.offset, kArenaAlignment));
  }
  if (range.bytes > model.arena_bytes || range.offset > model.arena_bytes - range.bytes) {
    return corrupt_data(fmt::format("{} bytes at {} lie outside the arena of {}", range.bytes,
                                    range.offset, model.arena_bytes));
  }
  const uint64_t least = least_bytes(value, precision);
  if (range.bytes < least) {
    return corrupt_data(fmt::format("{} bytes, but the value needs {}", range.bytes, least));
  }
  return {};
}

// Simulates the steps of the graph and records which ranges are live.
class ArenaWalk {
 public:
  explicit ArenaWalk(const CompiledModel& model)
      : graph_(model.graph),
        in_place_(model.graph),
        ranges_(model.graph.values.size()),
        last_(model.graph.values.size()) {}

  Status add_range(const PlannedValue& range) {
    if (ranges_[range.value] != nullptr) return corrupt_data("it has two ranges");
    ranges_[range.value] = &range;
    return {};
  }

  Status run() {
    find_last_steps();
    for (const ValueId id : graph_.inputs) MILLRACE_RETURN_IF_ERROR(occupy(id));
    for (size_t step = 0; step < graph_.nodes.size(); ++step) {
      MILLRACE_RETURN_IF_ERROR(run_step(step));
    }
    return {};
  }

 private:
  static constexpr size_t kForever = static_cast<size_t>(-1);

  void find_last_steps() {
    for (size_t step = 0; step < graph_.nodes.size(); ++step) {
      const Node& node = graph_.nodes[step];
      for (const ValueId id : node.outputs) last_[id] = step;
      for (const ValueId id : node.inputs) {
        if (id != kNoValue) last_[id] = step;
      }
    }
    for (const ValueId id : graph_.outputs) last_[id] = kForever;
  }

  Status run_step(size_t step) {
    const Node& node = graph_.nodes[step];
    release_overwritten(node, step);
    for (const ValueId id : node.outputs) MILLRACE_RETURN_IF_ERROR(occupy(id));
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && last_[id] == step) release(id);
    }
    for (const ValueId id : node.outputs) {
      if (last_[id] == step) release(id);
    }
    return {};
  }

  // Frees the operand that the step may overwrite, if the plan gives it the offset of the output
  // and no later step reads it.
  void release_overwritten(const Node& node, size_t step) {
    const auto operand = in_place_.of(node);
    if (!operand) return;
    const ValueId id = node.input(*operand);
    const PlannedValue *from = ranges_[id], *to = ranges_[node.outputs[0]];
    if (from != nullptr && to != nullptr && from->offset == to->offset && last_[id] == step) {
      release(id);
    }
  }

  // Marks the range of a value as live; fails if it overlaps a live range.
  Status occupy(ValueId id) {
    const PlannedValue* range = ranges_[id];
    if (range == nullptr || range->bytes == 0) return {};
    const auto next = taken_.upper_bound(range->offset);
    if (next != taken_.end() && next->first < range->offset + range->bytes) {
      return overlap(id, *next->second);
    }
    if (next != taken_.begin()) {
      const PlannedValue& previous = *std::prev(next)->second;
      if (previous.offset + previous.bytes > range->offset) return overlap(id, previous);
    }
    taken_.emplace(range->offset, range);
    return {};
  }

  void release(ValueId id) {
    const PlannedValue* range = ranges_[id];
    if (range == nullptr) return;
    const auto it = taken_.find(range->offset);
    if (it != taken_.end() && it->second == range) taken_.erase(it);
  }

  Status overlap(ValueId id, const PlannedValue& other) const {
    return corrupt_data(fmt::format("memory plan: '{}' and '{}' share memory while both are in use",
                                    graph_.values[id].name, graph_.values[other.value].name));
  }

  const Graph& graph_;
  const InPlaceOperands in_place_;
  std::vector<const PlannedValue*> ranges_;        // by value
  std::vector<size_t> last_;                       // by value: the last step that reads it
  std::map<uint64_t, const PlannedValue*> taken_;  // by offset
};

}  // namespace

Status check_plan(const CompiledModel& model) {
  if (model.arena_bytes > kMaxArenaBytes) {
    return corrupt_data(fmt::format("memory plan: an arena of {} bytes; at most {} are supported",
                                    model.arena_bytes, kMaxArenaBytes));
  }
  ArenaWalk walk(model);
  const std::vector<Precision> precisions = value_precisions(model);
  for (const PlannedValue& range : model.plan) {
    if (range.value >= model.graph.values.size()) {
      return corrupt_data(fmt::format("memory plan: value id {}, but the graph has {} values",
                                      range.value, model.graph.values.size()));
    }
    Status status = check_range(model, range, precisions[range.value]);
    if (status.ok()) status = walk.add_range(range);
    if (!status.ok()) {
      return status.with_context(
          fmt::format("memory plan: '{}'", model.graph.values[range.value].name));
    }
  }
  return walk.run();
}

}  // namespace millrace::graph
