// A small transformer with weights that follow from a seed.
#pragma once

#include "tests/device_cpu/model_builder.h"

namespace millrace::test {

struct Transformer {
  int64_t width = 48, heads = 4, length = 5, hidden = 96, outputs = 40;
  // Queries, keys and values are one product, of which slices take their parts.
  bool fused_projections = false;
  size_t blocks = 2;
};

inline constexpr int64_t kTransformerBatch = 1;

// Blocks of attention and feed-forward network, each with a LayerNormalization before it and the
// sum with what it has read behind it; then one more product. Input [1, length, width].
graph::Graph make_transformer(const Transformer& options);

}  // namespace millrace::test
