// Common parts of the forms of attention: queries, keys and values are [batch, heads, length, size
// of a head] where they meet.
#pragma once

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

const graph::Dims& shape_of(NodeImport& node, ValueId value);

// Elements [begin, begin + size) of dimension `axis`.
Result<ValueId> part_of(NodeImport& node, ValueId x, size_t axis, int64_t begin, int64_t size);

// [batch, length, heads * size] to [batch, heads, length, size], and back. Requirement: `heads` is
// positive.
Result<ValueId> split_heads(NodeImport& node, ValueId x, int64_t heads);
Result<ValueId> join_heads(NodeImport& node, ValueId x);

// `x` behind what earlier calls left: [batch, heads, past, size].
Result<ValueId> append_to_past(NodeImport& node, ValueId past, ValueId x);

// Returns the additive mask, [queries, keys], for queries that follow `past` keys: no query sees a
// later key, nor, if `window` is not negative, one that is `window` or more before it.
Result<ValueId> penalty_of_keys_out_of_sight(NodeImport& node, int64_t queries, int64_t past,
                                             int64_t keys, int64_t window);

}  // namespace millrace::lowering
