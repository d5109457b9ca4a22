// The memory planner: gives every temporary value an offset in one arena.
//
// The compiler uses it for the plan that an archive carries, devices for their own plan at load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace millrace::graph {

inline constexpr size_t kArenaAlignment = 64;

// A value that must hold its bytes from step `first` to step `last`, both included.
struct Lifetime {
  size_t bytes = 0;
  uint32_t first = 0;
  uint32_t last = 0;
  // The lifetime (by index, smaller than this one's) whose memory this one takes over: for an
  // operator that writes its result over an operand. The two may overlap in one step. Ignored where
  // they overlap in more, or where another lifetime has taken over that memory already.
  std::optional<uint32_t> in_place_of;
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // one per lifetime, aligned to kArenaAlignment
  size_t arena_bytes = 0;       // SIZE_MAX where the sum is beyond any memory
};

enum class Placement : uint8_t {
  // Takes as little memory as first fit by descending size.
  kCompact,
  // For values whose first halves one core writes and reads, and whose second halves another:
  // values that use the same memory at different times have their middle at the same place, where
  // that takes at most half as much again. So neither core writes to memory that the other one has
  // in its cache.
  kCentred
};

// Lifetimes that overlap in time never overlap in memory, except along in_place_of.
MemoryPlan plan_memory(std::span<const Lifetime> lifetimes,
                       Placement placement = Placement::kCompact);

// The input whose memory the node's output may take over, provided that no later node reads that
// input: the residual of a Conv, or an operand of an elementwise operator that has the output's
// shape. Never a constant, a graph input or a graph output.
std::optional<size_t> in_place_operand(const Graph& graph, const Node& node);

}  // namespace millrace::graph
