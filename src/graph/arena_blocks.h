// Places blocks of an arena, each of which is in use for some steps of a program, in the order of
// time. Private to the memory planner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace millrace::graph {

// A range of the arena. It serves one lifetime, or a chain of lifetimes, each of which takes over
// the memory of the one before.
struct Block {
  size_t bytes = 0;
  uint32_t first = 0, last = 0;  // both included
  size_t offset = 0;
};

// Returns SIZE_MAX where the sum does not fit.
inline size_t saturating_add(size_t a, size_t b) {
  const size_t sum = a + b;
  return sum < a ? std::numeric_limits<size_t>::max() : sum;
}

// Gives every block its offset, in the order in which the blocks come into use: the smallest free
// range that holds it, or else the end of the arena. Returns the size of the arena, or SIZE_MAX on
// overflow. Takes O(n log n) steps, while first fit by descending size takes O(n*n), and makes the
// arena somewhat larger.
size_t place_by_time(std::vector<Block>& blocks);

}  // namespace millrace::graph
