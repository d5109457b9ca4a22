// Building blocks of the attention operators of com.microsoft. Queries, keys and values are
// [batch, heads, length, head size] in the attention itself.
#pragma once

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

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

// Returns the additive causal mask, [queries, keys], for queries that follow `past` keys: no query
// attends to a later key, nor, if `window` is not negative, to a key that is `window` or more
// positions before it.
Result<ValueId> penalty_of_keys_out_of_sight(NodeImport& node, int64_t queries, int64_t past,
                                             int64_t keys, int64_t window);

}  // namespace millrace::lowering
