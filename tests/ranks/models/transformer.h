// A small transformer with weights that follow from a seed.
#pragma once

#include "tests/device_cpu/model_builder.h"

namespace millrace::test {

// The ways in which queries, keys and values are computed.
enum class Projections : uint8_t {
  kApart,   // a product each
  kSliced,  // one product, divided by slices
  // One product, which is reshaped, [length, 3, heads, width / heads], and transposed, so that
  // Gathers take the parts. Only where there are as many heads of keys as of queries.
  kGathered,
};

struct Transformer {
  int64_t width = 48, heads = 4, length = 5, hidden = 96, outputs = 40;
  // Key/value heads; heads / kv_heads query heads share each of them (grouped-query attention).
  int64_t kv_heads = 4;
  Projections projections = Projections::kApart;
  // The feed-forward network has a gate (SwiGLU), and normalisations do not subtract a mean.
  bool is_gated = false;
  size_t blocks = 2;
};

inline constexpr int64_t kTransformerBatch = 1;

// Makes blocks of attention and feed-forward network, each after a normalisation and with a
// residual sum, followed by one more matrix product. The input is [1, length, width].
graph::Graph make_transformer(const Transformer& options);

}  // namespace millrace::test
