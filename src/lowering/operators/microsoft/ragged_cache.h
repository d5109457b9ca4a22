// Keys and values of sequences whose lengths are known only while the program runs, and differ
// within a batch. `starts` is [batch] of INT64: the length of each sequence before the new tokens,
// and so the position of the first of them.
#pragma once

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// Returns the starts for the indices of the last tokens, `batch` elements of INT32, when each
// sequence has `length` new tokens and ends before position `total`. A start that the program finds
// to be beyond that becomes -1, which inserted() refuses like any other that is out of range.
Result<ValueId> starts_before_tokens(NodeImport& node, ValueId lasts, int64_t batch, int64_t length,
                                     int64_t total);

// Returns the length of each sequence with its `length` new tokens, [batch] of INT64.
Result<ValueId> lengths_from(NodeImport& node, ValueId starts, int64_t length);

// Returns the positions of the new tokens, [batch, length].
Result<ValueId> positions_from(NodeImport& node, ValueId starts, int64_t length);

// Returns [batch, heads, positions, size]: `x`, [batch, heads, length, size], from the start of
// each sequence on, and the elements of `past`, [batch, heads, capacity, size], elsewhere.
// Positions beyond both are 0. The program fails with kInvalidArgument if the new tokens of a
// sequence do not lie within the positions. Requirement: `capacity` <= `positions`.
Result<ValueId> inserted(NodeImport& node, ValueId past, ValueId x, ValueId starts,
                         int64_t positions);

// Returns `x`, [batch, heads, positions, size], with zeros after the `length` new tokens of each
// sequence.
Result<ValueId> cleared_after(NodeImport& node, ValueId x, ValueId starts, int64_t length);

// Returns the additive mask, [batch, 1, 1, keys], by which no query attends to a key after the last
// token of its sequence. `lasts` is as for starts_before_tokens().
Result<ValueId> penalty_of_keys_after(NodeImport& node, ValueId lasts, int64_t batch, int64_t keys);

// Returns the additive causal mask, [batch, 1, queries, keys]: no query attends to a later key,
// nor, if `window` is not negative, to a key that is `window` or more positions before it.
Result<ValueId> penalty_of_ragged_keys(NodeImport& node, ValueId starts, int64_t queries,
                                       int64_t keys, int64_t window);

}  // namespace millrace::lowering
