// Building blocks of the attention operators of com.microsoft and of the standard. Queries, keys
// and values are [batch, heads, length, head size] in the attention itself.
#pragma once

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// Queries, keys and values of an attention.
struct Heads {
  ValueId query = kNoValue, key = kNoValue, value = kNoValue;
};

const graph::Dims& shape_of(NodeImport& node, ValueId value);

// Returns elements [begin, begin + size) of dimension `axis`.
Result<ValueId> part_of(NodeImport& node, ValueId x, size_t axis, int64_t begin, int64_t size);

// Converts [batch, length, heads * size] to [batch, heads, length, size], and back. split_heads()
// fails with kInvalidArgument if `x` has another rank, or if its last dimension is no multiple of
// `heads`. Requirement: `heads` is positive.
Result<ValueId> split_heads(NodeImport& node, ValueId x, int64_t heads);
Result<ValueId> join_heads(NodeImport& node, ValueId x);

// Appends `x` to the keys or values of earlier calls, [batch, heads, past, size].
Result<ValueId> append_to_past(NodeImport& node, ValueId past, ValueId x);

// Returns scale * query key^T, [batch, heads, queries, keys]. Each key head serves the same number
// of consecutive query heads, which become rows of one matrix, so that keys are not repeated.
// kInvalidArgument if the shapes do not fit.
Result<ValueId> grouped_scores(NodeImport& node, ValueId query, ValueId key, float scale);
// Returns weights * value, [batch, heads, queries, size], for the weights of grouped_scores().
Result<ValueId> grouped_sums(NodeImport& node, ValueId weights, ValueId value);

// Returns cap * tanh(scores / cap); the scores themselves if `cap` is not positive.
Result<ValueId> soft_capped(NodeImport& node, ValueId scores, float cap);

// Returns the result of a comparison, "Less" for instance, as FLOAT32: 1 where it is true.
Result<ValueId> compared(NodeImport& node, const char* comparison, ValueId a, ValueId b);

// A FLOAT32 scalar.
Result<ValueId> scalar_constant(NodeImport& node, float value);

// A query sees the keys of its own position and before, or all of its sequence; and of these only
// the last `window`, if that is not negative.
struct Sight {
  bool is_causal = true;
  int64_t window = -1;
};

// Returns the attention of queries, the last tokens of their sequences, to the keys of buffers.
// `lengths` is [batch] of INT64: the keys of each sequence, with those of the queries. `sinks`,
// [heads], may be kNoValue.
Result<ValueId> cached_attention(NodeImport& node, const Heads& heads, ValueId lengths,
                                 ValueId sinks, float scale, const Sight& sight);

// The keys or values of all tokens: those that the attention reads, and those that the node
// returns.
struct Cache {
  ValueId read = kNoValue, returned = kNoValue;
};

// Writes `x` to a buffer of keys or values, `past`, after its first `used` positions. What the
// attention reads ends with `x`; what the node returns has the rest of the buffer besides. `past`
// may be kNoValue if `used` is 0. Requirement: `past` has at least `used` positions.
Result<Cache> write_to_buffer(NodeImport& node, ValueId past, int64_t used, ValueId x);

// Returns the additive causal mask, [queries, keys], for queries that follow `past` keys: no query
// attends to a later key, nor, if `window` is not negative, to a key that is `window` or more
// positions before it. Those keys get the penalty `hidden`.
Result<ValueId> causal_window_mask(NodeImport& node, int64_t queries, int64_t past, int64_t keys,
                                   int64_t window, float hidden);

}  // namespace millrace::lowering
