// The memory planner: gives every temporary value an offset in one arena, so that values share
// memory if they are not in use at the same time. The compiler plans for the archive; devices make
// their own plan at load. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace millrace::graph {

inline constexpr size_t kArenaAlignment = 64;  // a cache line

// A value that needs its memory from step `first` to step `last`, both included.
struct Lifetime {
  size_t bytes = 0;
  uint32_t first = 0;
  uint32_t last = 0;
  // The earlier lifetime (an index smaller than that of this one) whose memory this one takes over:
  // for an operator that overwrites an operand with its result. The two may overlap in one step.
  // Ignored if they overlap in more steps, or if another lifetime has already taken over that
  // memory.
  std::optional<uint32_t> in_place_of;
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // one per lifetime, aligned to kArenaAlignment
  size_t arena_bytes = 0;       // SIZE_MAX on overflow
};

enum class Placement : uint8_t {
  // Uses first fit by descending size, which makes a small arena.
  kCompact,
  // For values whose first half one core writes and reads, and whose second half another. Values
  // that use the same memory at different times have their middle at the same place, unless that
  // makes the arena more than half as large again. So no core writes to memory that the other has
  // in its cache.
  kCentred
};

// Plans the arena. Lifetimes that overlap in time never overlap in memory, except along
// in_place_of.
MemoryPlan plan_memory(std::span<const Lifetime> lifetimes,
                       Placement placement = Placement::kCompact);

// Returns the index of the operand whose memory the output of the node may take over, provided that
// no later node reads it: the residual of a Conv, the cache of a TensorScatter, or an operand of an
// elementwise operator that has the type and shape of the output. Never a constant, a graph input
// or a graph output.
std::optional<size_t> in_place_operand(const Graph& graph, const Node& node);

// Whether a job may bind the same memory as the graph input `input` and as the graph output
// `output`: no node but a TensorScatter reads the input, as its cache, and it makes the output. It
// then writes its rows into that memory, which nothing reads afterwards but as the output.
bool is_updated_in_place(const Graph& graph, ValueId input, ValueId output);

}  // namespace millrace::graph
