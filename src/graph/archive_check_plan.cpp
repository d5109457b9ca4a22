#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "graph/archive_check.h"

namespace millrace::graph {
namespace {

// No machine that this runs on can give more to one context.
constexpr uint64_t kMaxArenaBytes = uint64_t{1} << 40;

// What the value takes at least, dense. A BF16 program may keep floating values in two bytes.
uint64_t least_bytes(const Value& value, Precision precision) {
  const size_t size = tensor::size_of(value.type);
  const bool narrowed = precision == Precision::kBf16 && tensor::is_floating(value.type);
  return value.elements() * (narrowed ? std::min<size_t>(size, 2) : size);
}

Status check_place(const CompiledModel& model, const PlannedValue& place) {
  const Value& value = model.graph.values[place.value];
  if (value.constant) return corrupt_data("a constant has no place in the arena");
  if (place.offset % kArenaAlignment != 0) {
    return corrupt_data(
        fmt::format("its offset {} is not a multiple of {}", place.offset, kArenaAlignment));
  }
  if (place.bytes > model.arena_bytes || place.offset > model.arena_bytes - place.bytes) {
    return corrupt_data(fmt::format("{} bytes at {} lie outside the arena of {}", place.bytes,
                                    place.offset, model.arena_bytes));
  }
  const uint64_t least = least_bytes(value, model.precision);
  if (place.bytes < least) {
    return corrupt_data(fmt::format("{} bytes, but it needs {}", place.bytes, least));
  }
  return {};
}

// Follows the values through the steps of the graph and keeps the places that are taken.
class ArenaWalk {
 public:
  explicit ArenaWalk(const CompiledModel& model)
      : graph_(model.graph), places_(model.graph.values.size()), last_(model.graph.values.size()) {}

  Status add_place(const PlannedValue& place) {
    if (places_[place.value] != nullptr) return corrupt_data("it has two places");
    places_[place.value] = &place;
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
      last_[node.outputs[0]] = step;
      for (const ValueId id : node.inputs) {
        if (id != kNoValue) last_[id] = step;
      }
    }
    for (const ValueId id : graph_.outputs) last_[id] = kForever;
  }

  Status run_step(size_t step) {
    const Node& node = graph_.nodes[step];
    const ValueId output = node.outputs[0];
    release_overwritten(node, step);
    MILLRACE_RETURN_IF_ERROR(occupy(output));
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && last_[id] == step) release(id);
    }
    if (last_[output] == step) release(output);
    return {};
  }

  // An operand that ends in this step gives its place to the output where the operator allows it.
  void release_overwritten(const Node& node, size_t step) {
    const auto operand = in_place_operand(graph_, node);
    if (!operand) return;
    const ValueId id = node.input(*operand);
    const PlannedValue *from = places_[id], *to = places_[node.outputs[0]];
    if (from != nullptr && to != nullptr && from->offset == to->offset && last_[id] == step) {
      release(id);
    }
  }

  Status occupy(ValueId id) {
    const PlannedValue* place = places_[id];
    if (place == nullptr || place->bytes == 0) return {};
    const auto next = taken_.upper_bound(place->offset);
    if (next != taken_.end() && next->first < place->offset + place->bytes) {
      return overlap(id, *next->second);
    }
    if (next != taken_.begin()) {
      const PlannedValue& previous = *std::prev(next)->second;
      if (previous.offset + previous.bytes > place->offset) return overlap(id, previous);
    }
    taken_.emplace(place->offset, place);
    return {};
  }

  void release(ValueId id) {
    const PlannedValue* place = places_[id];
    if (place == nullptr) return;
    const auto it = taken_.find(place->offset);
    if (it != taken_.end() && it->second == place) taken_.erase(it);
  }

  Status overlap(ValueId id, const PlannedValue& other) const {
    return corrupt_data(fmt::format("memory plan: '{}' and '{}' share memory while both are in use",
                                    graph_.values[id].name, graph_.values[other.value].name));
  }

  const Graph& graph_;
  std::vector<const PlannedValue*> places_;        // by value
  std::vector<size_t> last_;                       // by value: the last step that reads it
  std::map<uint64_t, const PlannedValue*> taken_;  // by offset
};

}  // namespace

Status check_plan(const CompiledModel& model) {
  if (model.arena_bytes > kMaxArenaBytes) {
    return corrupt_data(fmt::format("memory plan: an arena of {} bytes; at most {} are possible",
                                    model.arena_bytes, kMaxArenaBytes));
  }
  ArenaWalk walk(model);
  for (const PlannedValue& place : model.plan) {
    if (place.value >= model.graph.values.size()) {
      return corrupt_data(
          fmt::format("memory plan: value id {} of {}", place.value, model.graph.values.size()));
    }
    Status status = check_place(model, place);
    if (status.ok()) status = walk.add_place(place);
    if (!status.ok()) {
      return status.with_context(
          fmt::format("memory plan: '{}'", model.graph.values[place.value].name));
    }
  }
  return walk.run();
}

}  // namespace millrace::graph
