// Blocks of an arena that are in use for some steps of a program, placed in the order of time.
// Private to the memory planner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace millrace::graph {

// A range of the arena: for one lifetime, or for a chain of them each of which takes over the
// memory of the one before.
struct Block {
  size_t bytes = 0;
  uint32_t first = 0, last = 0;  // both included
  size_t offset = 0;
};

// SIZE_MAX where the sum does not fit.
inline size_t saturating_add(size_t a, size_t b) {
  const size_t sum = a + b;
  return sum < a ? std::numeric_limits<size_t>::max() : sum;
}

// Gives every block its offset, in the order in which they come into use: the smallest free range
// that holds it, or else the end of the arena. Returns the size of the arena, SIZE_MAX where the
// sum is beyond any memory. Takes O(n log n) steps, where first fit by descending size takes n*n,
// and somewhat more memory.
size_t place_by_time(std::vector<Block>& blocks);

}  // namespace millrace::graph
