// Attention of a block of queries, softmax(scale Q K^T + bias) V, without a matrix of all scores,
// as in FlashAttention (Dao et al., 2022): the keys are taken a block at a time, and the results so
// far are corrected when a later key has a larger score. The instruction set is chosen when it is
// called.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::accelerated::attention {

// The queries of a block, and the keys that are taken at a time.
inline constexpr size_t kMostQueries = 256, kMostKeys = 256;

// Rows of contiguous elements, `step` elements apart.
struct Rows {
  const float* at;
  size_t step;
};

// The values that are added to the scores of a query. `step`, from one key to the next, is 1, or 0
// where all keys have the same value.
struct BiasRows {
  const float* at;  // null if there are none
  size_t row_step, step;
};

// Scores that take part in the softmax like those of keys without a value: one for each query,
// `step` apart.
struct Sinks {
  const float* at = nullptr;  // null if there are none
  size_t step = 0;
};

// The keys that a query sees: the last `window` of those before `end`, to which each later query
// adds `later`; by default all. Queries are computed in groups, with the keys that one of the group
// sees. Hidden ones among these are multiplied by 0, so a NaN or inf in them may reach the result.
struct Seen {
  static constexpr size_t kAll = SIZE_MAX / 2;
  size_t end = kAll, later = 0, window = kAll;
};

// Each query sees a key.
struct Block {
  Rows query, key, value;
  BiasRows bias;
  Sinks sinks;
  Seen seen;
  float scale;
  size_t queries, keys;  // queries <= kMostQueries
  size_t depth, size;    // the elements of a key, and those of a value
  float* to;             // rows of `size` elements,
  size_t to_step;        // so far apart
  float* scratch;        // aligned to a cache line, of scratch_elements()
};

// The elements of scratch memory for a block.
constexpr size_t scratch_elements(size_t queries, size_t depth, size_t size) {
  constexpr size_t kMultiple = 16;
  const auto padded = [](size_t elements) {
    return (elements + kMultiple - 1) / kMultiple * kMultiple;
  };
  queries = std::min(queries, kMostQueries);
  return depth * kMostKeys + padded(size) * (kMostKeys + queries) + padded(queries * depth);
}

// A query whose scores have a NaN, inf or only -inf gets NaN, as by a softmax.
void attend(const Block& block) noexcept;

}  // namespace millrace::device::cpu::accelerated::attention
