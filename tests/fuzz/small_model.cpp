#include "tests/fuzz/small_model.h"

#include <algorithm>
#include <ranges>

namespace millrace::fuzz {
namespace {

constexpr size_t kMostElements = 1 << 14;  // of a value
constexpr size_t kMostWindow = 1 << 10;    // elements that a pool reads for one
constexpr size_t kMostBoundaryBytes = 1 << 20;

bool has_small_window(const graph::Node& node) {
  const auto* pool = std::get_if<graph::Pool>(&node.op);
  if (pool == nullptr) return true;
  size_t window = 1;
  for (const int64_t side : pool->kernel) window = std::min(kMostWindow + 1, window * side);
  return window <= kMostWindow;
}

bool is_small(const graph::Boundary& boundary) {
  return boundary.cpu.bytes() <= kMostBoundaryBytes &&
         (!boundary.hw || boundary.hw->bytes() <= kMostBoundaryBytes);
}

}  // namespace

bool is_small(const graph::CompiledModel& model) {
  const auto small_boundary = [](const graph::Boundary& boundary) { return is_small(boundary); };
  return model.graph.nodes.size() <= 64 &&
         std::ranges::all_of(
             model.graph.values,
             [](const graph::Value& value) { return value.elements() <= kMostElements; }) &&
         std::ranges::all_of(model.graph.nodes, has_small_window) &&
         std::ranges::all_of(model.inputs, small_boundary) &&
         std::ranges::all_of(model.outputs, small_boundary);
}

}  // namespace millrace::fuzz
