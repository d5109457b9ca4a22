// Places blocks of an arena in the order of time, by best fit. Each block is in use for an interval
// of steps of a program. Private to the memory planner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace millrace::graph {

// A range of the arena. It serves one lifetime, or a chain of lifetimes in which each takes over
// the memory of the one before.
struct Block {
  size_t bytes = 0;
  uint32_t first = 0, last = 0;  // steps, both included
  size_t offset = 0;
};

// Adds, and returns SIZE_MAX on overflow.
inline size_t saturating_add(size_t a, size_t b) {
  const size_t sum = a + b;
  return sum < a ? std::numeric_limits<size_t>::max() : sum;
}

// Gives every block its offset, in the order in which the blocks come into use: in the smallest
// free range that holds it (best fit), or else at the end of the arena. Returns the size of the
// arena, or SIZE_MAX on overflow. Takes O(n log n) steps for n blocks, while first fit by
// descending size takes O(n^2) but makes a somewhat smaller arena.
size_t place_by_time(std::vector<Block>& blocks);

}  // namespace millrace::graph
