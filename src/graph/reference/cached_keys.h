// CachedKeys says which keys of a buffer the queries of a sequence see. The kernels of
// millrace.CachedAttention share this definition. Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>

namespace millrace::graph::reference {

// The keys from `begin` on and before `end`.
struct SeenKeys {
  int64_t begin = 0, end = 0;

  bool empty() const { return begin == end; }
};

struct CachedKeys {
  int64_t queries = 1;   // of a sequence: its last tokens
  int64_t capacity = 0;  // of the buffer
  int64_t window = -1;   // the most keys that a query sees; negative: any number
  bool is_causal = true;

  // Returns the keys that a query sees of a sequence of `length` tokens, which may be any number.
  // Neither bound is lower for a later query.
  SeenKeys seen_by(int64_t query, int64_t length) const {
    // Clamped, so that differences do not overflow. Both bounds are beyond those that matter.
    length = std::clamp(length, int64_t{-1}, capacity + queries);
    const int64_t end = is_causal ? length - (queries - 1 - query) : length;
    const int64_t last = std::clamp(end, int64_t{0}, capacity);
    return {window < 0 ? 0 : last - std::min(window, last), last};
  }
};

}  // namespace millrace::graph::reference
