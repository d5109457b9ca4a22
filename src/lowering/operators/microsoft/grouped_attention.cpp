// Handler of GroupQueryAttention of com.microsoft: attention, causal by default, in which groups of
// query heads share a key and value head (grouped-query attention), with optional rotary embedding,
// sliding window, softcap and attention sinks. It becomes MatMul, Add and Softmax; the query heads
// of a group are stacked as rows of one matrix, so that keys and values are not repeated. Where the
// lengths of the sequences are known only while the program runs, it becomes an attention that
// reads the buffers of keys and values where they lie (cached_attention()), unless that lacks
// something.
//
// Past keys and values have at least as many positions as the sequences before the new tokens; if
// they have more, they are buffers, of which only the first positions count. The keys and values
// that the node returns have room for the longest sequence, and at least as many positions as the
// past.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lowering/operators/bounded_constant.h"
#include "lowering/operators/handlers.h"
#include "lowering/operators/microsoft/heads.h"
#include "lowering/operators/microsoft/ragged_cache.h"
#include "lowering/operators/microsoft/rotary_embedding.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;

constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kPastKey = 3, kPastValue = 4, kLengths = 5,
                 kTotal = 6, kCos = 7, kSin = 8, kPositions = 9, kScoreBias = 10, kSink = 11,
                 kKeyScale = 12, kValueScale = 13, kQueryNorm = 14, kKeyNorm = 15;

// `length` is the number of new tokens of each sequence, `total` the length of the longest sequence
// with them, `capacity` the number of positions of the past keys, and `size` that of a head.
struct Sizes {
  int64_t batch = 0, length = 0, total = 0, capacity = 0, heads = 0, kv_heads = 0, size = 0;
  // The length of each sequence before the new tokens, [batch] of INT64; kNoValue if all are
  // past().
  ValueId starts = kNoValue;

  // The length of the longest sequence before the new tokens.
  int64_t past() const { return total - length; }
  bool have_own_starts() const { return starts != kNoValue; }
};

Status check_variant(NodeImport& node) {
  for (const char* name : {"k_quant_type", "v_quant_type"})
    if (node.string_attribute(name, "NONE") != "NONE")
      return unsupported(fmt::format("{} is set", name));
  if (node.has(kKeyScale) || node.has(kValueScale))
    return unsupported("it has scales of a quantised cache");
  if (node.int_attribute("sliding_window_cache", 0) != 0)
    return unsupported("sliding_window_cache is set");
  if (node.has(kQueryNorm) != node.has(kKeyNorm))
    return invalid_argument("q_norm_weight and k_norm_weight belong together");
  if (node.output_count() > 3 && node.int_attribute("qk_output", 0) != 2)
    return unsupported("its output of scores before the softmax is not supported");
  return {};
}

// Whether the program knows that each sequence has the total length.
Result<bool> have_total_length(NodeImport& node, const Sizes& sizes) {
  if (!node.is_constant(kLengths)) return false;
  MILLRACE_ASSIGN_OR_RETURN(const Dims lasts, node.constant_ints(kLengths));
  return std::ranges::all_of(lasts, [&](int64_t last) { return last == sizes.total - 1; });
}

// Returns the starts of the sequences, if they may differ from past(): those of sequences that go
// on from a past. The operand has the index of the last token of each sequence.
Result<ValueId> starts_of(NodeImport& node, const Sizes& sizes) {
  if (node.shape(kLengths) != Dims{sizes.batch} && node.shape(kLengths) != Dims{sizes.batch, 1})
    return invalid_argument("seqlens_k must have one element for each sequence");
  MILLRACE_ASSIGN_OR_RETURN(const bool have_total, have_total_length(node, sizes));
  if (sizes.past() == 0 || have_total) return kNoValue;
  return starts_before_tokens(node, node.operand(kLengths), sizes.batch, sizes.length, sizes.total);
}

// Returns the number of positions of the past keys and values.
Result<int64_t> capacity_of(NodeImport& node, const Sizes& sizes) {
  if (!node.has(kPastKey) && !node.has(kPastValue) && sizes.past() == 0) return 0;
  if (!node.has(kPastKey) || !node.has(kPastValue))
    return invalid_argument("its past keys or values are missing");
  const Dims& past = node.shape(kPastKey);
  const int64_t capacity = past.size() == 4 ? past[2] : 0;
  const Dims wanted = {sizes.batch, sizes.kv_heads, capacity, sizes.size};
  if (past == wanted && node.shape(kPastValue) == wanted && capacity >= sizes.past())
    return capacity;
  return invalid_argument(fmt::format(
      "its past keys {} and values {} must be [{}, {}, length, {}], with a length of at least {}",
      graph::to_string(past), graph::to_string(node.shape(kPastValue)), sizes.batch, sizes.kv_heads,
      sizes.size, sizes.past()));
}

Result<Sizes> sizes_of(NodeImport& node) {
  Sizes sizes;
  sizes.heads = node.int_attribute("num_heads", 0);
  sizes.kv_heads = node.int_attribute("kv_num_heads", 0);
  constexpr int64_t kMostHeads = int64_t{1} << 20;
  if (sizes.kv_heads < 1 || sizes.heads < 1 || sizes.heads > kMostHeads ||
      sizes.heads % sizes.kv_heads != 0)
    return invalid_argument("num_heads must be a positive multiple of kv_num_heads, up to 2^20");
  const Dims& query = node.shape(kQuery);
  const bool is_packed = !node.has(kKey);
  if (query.size() != 3 || is_packed != !node.has(kValue))
    return invalid_argument(
        "its query must be [batch, length, size], with both key and value or neither");
  const int64_t heads = sizes.heads + (is_packed ? 2 * sizes.kv_heads : 0);
  sizes.batch = query[0];
  sizes.length = query[1];
  sizes.size = query[2] / heads;
  if (sizes.size < 1 || sizes.size * heads != query[2])
    return invalid_argument(
        fmt::format("{} elements cannot be divided into {} heads", query[2], heads));
  if (!node.has(kTotal) || !node.has(kLengths))
    return invalid_argument("its input seqlens_k or total_sequence_length is missing");
  MILLRACE_ASSIGN_OR_RETURN(const Dims total, node.constant_ints(kTotal));
  if (total.size() != 1 || total[0] < sizes.length)
    return invalid_argument(
        "total_sequence_length must be one integer, not less than the length of its query");
  sizes.total = total[0];
  MILLRACE_ASSIGN_OR_RETURN(sizes.capacity, capacity_of(node, sizes));
  MILLRACE_ASSIGN_OR_RETURN(sizes.starts, starts_of(node, sizes));
  return sizes;
}

// Returns query, key and value as [batch, heads, length, size], from three operands or one packed
// operand.
Result<Heads> heads_of(NodeImport& node, const Sizes& sizes) {
  Heads heads;
  if (node.has(kKey)) {
    MILLRACE_ASSIGN_OR_RETURN(heads.query, split_heads(node, node.operand(kQuery), sizes.heads));
    MILLRACE_ASSIGN_OR_RETURN(heads.key, split_heads(node, node.operand(kKey), sizes.kv_heads));
    MILLRACE_ASSIGN_OR_RETURN(heads.value, split_heads(node, node.operand(kValue), sizes.kv_heads));
    const Dims wanted = {sizes.batch, sizes.kv_heads, sizes.length, sizes.size};
    if (shape_of(node, heads.key) == wanted && shape_of(node, heads.value) == wanted) return heads;
    return invalid_argument(fmt::format(
        "its key {} or value {} does not match its query {}", graph::to_string(node.shape(kKey)),
        graph::to_string(node.shape(kValue)), graph::to_string(node.shape(kQuery))));
  }
  const int64_t groups = sizes.kv_heads;
  MILLRACE_ASSIGN_OR_RETURN(const ValueId all,
                            split_heads(node, node.operand(kQuery), sizes.heads + 2 * groups));
  MILLRACE_ASSIGN_OR_RETURN(heads.query, part_of(node, all, 1, 0, sizes.heads));
  MILLRACE_ASSIGN_OR_RETURN(heads.key, part_of(node, all, 1, sizes.heads, groups));
  MILLRACE_ASSIGN_OR_RETURN(heads.value, part_of(node, all, 1, sizes.heads + groups, groups));
  return heads;
}

// Divides each head of a query or key by its root mean square, and multiplies it by a weight.
Result<ValueId> normalised(NodeImport& node, ValueId x, size_t weight, const Sizes& sizes) {
  if (node.shape(weight) != Dims{sizes.size})
    return invalid_argument("q_norm_weight and k_norm_weight must have the size of a head");
  const float epsilon = node.float_attribute("qk_norm_epsilon", 1e-6f);
  MILLRACE_ASSIGN_OR_RETURN(const auto y,
                            node.emit_fallback({"SimplifiedLayerNormalization",
                                                {{"axis", int64_t{-1}}, {"epsilon", epsilon}}},
                                               {x, node.operand(weight)}, 1));
  return y[0];
}

// Normalises the heads of query and key, if the node has weights for that.
Status normalise(NodeImport& node, const Sizes& sizes, Heads* heads) {
  if (!node.has(kQueryNorm)) return {};
  MILLRACE_ASSIGN_OR_RETURN(heads->query, normalised(node, heads->query, kQueryNorm, sizes));
  MILLRACE_ASSIGN_OR_RETURN(heads->key, normalised(node, heads->key, kKeyNorm, sizes));
  return {};
}

// Returns the rows of a table of cosines or sines for the positions of the query, as
// [batch or 1, 1, length, half of the rotated size].
Result<ValueId> rows_of(NodeImport& node, size_t table, const Sizes& sizes) {
  if (!node.has(table) || node.shape(table).size() != 2 || node.shape(table)[0] < sizes.total)
    return invalid_argument("its cosines and sines must have a row for each position");
  const int64_t width = node.shape(table)[1];
  ValueId positions = node.operand(kPositions);
  if (!node.has(kPositions) && sizes.have_own_starts()) {
    MILLRACE_ASSIGN_OR_RETURN(positions, positions_from(node, sizes.starts, sizes.length));
  }
  if (positions == kNoValue) {
    MILLRACE_ASSIGN_OR_RETURN(const ValueId rows,
                              part_of(node, node.operand(table), 0, sizes.past(), sizes.length));
    return node.reshape(rows, {1, 1, sizes.length, width});
  }
  MILLRACE_ASSIGN_OR_RETURN(const ValueId rows,
                            node.emit(graph::Gather{0}, {node.operand(table), positions}));
  return node.reshape(rows, {sizes.batch, 1, sizes.length, width});
}

// Applies the rotary embedding to query and key, if the node asks for it.
Status rotate(NodeImport& node, const Sizes& sizes, Heads* heads) {
  if (node.int_attribute("do_rotary", 0) == 0) return {};
  const bool interleaved = node.int_attribute("rotary_interleaved", 0) != 0;
  MILLRACE_ASSIGN_OR_RETURN(const ValueId cos, rows_of(node, kCos, sizes));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId sin, rows_of(node, kSin, sizes));
  MILLRACE_ASSIGN_OR_RETURN(heads->query, rotated(node, heads->query, cos, sin, interleaved));
  MILLRACE_ASSIGN_OR_RETURN(heads->key, rotated(node, heads->key, cos, sin, interleaved));
  return {};
}

// Appends new keys or values to the past ones, operand `past`.
Result<Cache> appended(NodeImport& node, size_t past, ValueId x, const Sizes& sizes) {
  if (!sizes.have_own_starts()) return write_to_buffer(node, node.operand(past), sizes.past(), x);
  const int64_t room = std::max(sizes.capacity, sizes.total);
  Cache cache;
  MILLRACE_ASSIGN_OR_RETURN(cache.returned,
                            inserted(node, node.operand(past), x, sizes.starts, room));
  cache.read = cache.returned;
  if (room > sizes.total) {
    MILLRACE_ASSIGN_OR_RETURN(cache.read, part_of(node, cache.returned, 2, 0, sizes.total));
  }
  // The buffer may have NaN after a shorter sequence, which no weight of 0 hides.
  MILLRACE_ASSIGN_OR_RETURN(cache.read,
                            cleared_after(node, cache.read, sizes.starts, sizes.length));
  return cache;
}

Result<Sight> sight_of(NodeImport& node) {
  const Sight sight{node.int_attribute("causal", 1) != 0,
                    node.int_attribute("local_window_size", -1)};
  if (sight.window == 0) return invalid_argument("local_window_size is 0, which hides all keys");
  if (!sight.is_causal && sight.window >= 0) return unsupported("causal is 0 with a window");
  return sight;
}

// Returns the additive mask; kNoValue if all queries attend to all keys. Without causality a query
// attends to all keys of its sequence, which may be shorter than the longest.
//
// The penalty is -infinity: beside a finite one, a bias as low as that would make earlier and later
// keys equal. A query always sees its own key.
Result<ValueId> penalty_of_hidden_keys(NodeImport& node, const Sizes& sizes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  MILLRACE_ASSIGN_OR_RETURN(const Sight sight, sight_of(node));
  const int64_t window = sight.window;
  if (!sight.is_causal) {
    MILLRACE_ASSIGN_OR_RETURN(const bool have_total, have_total_length(node, sizes));
    if (have_total) return kNoValue;
    return penalty_of_keys_after(node, node.operand(kLengths), sizes.batch, sizes.total);
  }
  if (sizes.have_own_starts())
    return penalty_of_ragged_keys(node, sizes.starts, sizes.length, sizes.total, window);
  return causal_window_mask(node, sizes.length, sizes.past(), sizes.total, window, -kInfinity);
}

// Returns the score of the sink of each head, [heads]; kNoValue without sinks. A smooth softmax,
// whose denominator is 1 + the sum, has sinks of 0.
Result<ValueId> sinks_of_heads(NodeImport& node, const Sizes& sizes) {
  if (node.has(kSink)) {
    if (node.shape(kSink) == Dims{sizes.heads}) return node.operand(kSink);
    return invalid_argument("its head_sink must have one element for each head");
  }
  if (node.int_attribute("smooth_softmax", 0) <= 0) return kNoValue;
  return add_table<float>(node, {sizes.heads}, "a list of sinks",
                          [](int64_t, int64_t) { return 0; });
}

// Emits the softmax of the scores. A sink takes part in it like the score of a key without a value.
Result<ValueId> weights_of(NodeImport& node, ValueId scores, const Sizes& sizes) {
  MILLRACE_ASSIGN_OR_RETURN(ValueId sinks, sinks_of_heads(node, sizes));
  if (sinks == kNoValue) return node.emit(graph::Softmax{3, false}, {scores});
  MILLRACE_ASSIGN_OR_RETURN(sinks, node.reshape(sinks, {1, sizes.heads, 1, 1}));
  MILLRACE_ASSIGN_OR_RETURN(
      sinks, node.emit(graph::Expand{{sizes.batch, sizes.heads, sizes.length, 1}}, {sinks}));
  MILLRACE_ASSIGN_OR_RETURN(scores, node.emit(graph::Concat{3}, {scores, sinks}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId weights, node.emit(graph::Softmax{3, false}, {scores}));
  return part_of(node, weights, 3, 0, sizes.total);
}

float scale_of(NodeImport& node, const Sizes& sizes) {
  const float scale = node.float_attribute("scale", 0);
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<float>(sizes.size));
}

// Whether cached_attention() has all that the node asks for.
bool can_read_buffers(NodeImport& node, const Sizes& sizes) {
  return sizes.have_own_starts() && !(node.float_attribute("softcap", 0) > 0) &&
         !node.has(kScoreBias) && node.output_count() <= 3;
}

// Writes the new keys and values to the buffers, and emits the attention that reads these.
Result<ValueId> attend_to_buffers(NodeImport& node, const Sizes& sizes, const Heads& heads) {
  MILLRACE_ASSIGN_OR_RETURN(const Sight sight, sight_of(node));
  const int64_t room = std::max(sizes.capacity, sizes.total);
  Heads buffers{heads.query, kNoValue, kNoValue};
  MILLRACE_ASSIGN_OR_RETURN(buffers.key,
                            inserted(node, node.operand(kPastKey), heads.key, sizes.starts, room));
  MILLRACE_ASSIGN_OR_RETURN(
      buffers.value, inserted(node, node.operand(kPastValue), heads.value, sizes.starts, room));
  if (node.output_count() > 1) node.set_output(1, buffers.key);
  if (node.output_count() > 2) node.set_output(2, buffers.value);
  MILLRACE_ASSIGN_OR_RETURN(const ValueId lengths, lengths_from(node, sizes.starts, sizes.length));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId sinks, sinks_of_heads(node, sizes));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId result, cached_attention(node, buffers, lengths, sinks,
                                                                   scale_of(node, sizes), sight));
  return join_heads(node, result);
}

// Emits the attention.
Result<ValueId> attend(NodeImport& node, const Sizes& sizes, const Heads& heads) {
  MILLRACE_ASSIGN_OR_RETURN(ValueId scores,
                            grouped_scores(node, heads.query, heads.key, scale_of(node, sizes)));
  MILLRACE_ASSIGN_OR_RETURN(scores, soft_capped(node, scores, node.float_attribute("softcap", 0)));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId penalty, penalty_of_hidden_keys(node, sizes));
  if (penalty != kNoValue) {
    MILLRACE_ASSIGN_OR_RETURN(scores, node.binary(BinaryKind::kAdd, scores, penalty));
  }
  if (node.has(kScoreBias)) {
    MILLRACE_ASSIGN_OR_RETURN(scores,
                              node.binary(BinaryKind::kAdd, scores, node.operand(kScoreBias)));
  }
  MILLRACE_ASSIGN_OR_RETURN(const ValueId weights, weights_of(node, scores, sizes));
  if (node.output_count() > 3) node.set_output(3, weights);
  MILLRACE_ASSIGN_OR_RETURN(const ValueId result, grouped_sums(node, weights, heads.value));
  return join_heads(node, result);
}

}  // namespace

// Inputs: query; key; value (or all three in the first); past keys; past values; index of the last
// token of each sequence; length of the longest sequence; cosines; sines; positions; bias of the
// scores; sinks; two scales of a quantised cache; weights of the norms of query and key. Outputs:
// the result; keys; values, both including those of the past; the weights of the values.
Result<ValueId> import_group_query_attention(NodeImport& node) {
  MILLRACE_RETURN_IF_ERROR(check_variant(node));
  MILLRACE_ASSIGN_OR_RETURN(const Sizes sizes, sizes_of(node));
  MILLRACE_ASSIGN_OR_RETURN(Heads heads, heads_of(node, sizes));
  MILLRACE_RETURN_IF_ERROR(normalise(node, sizes, &heads));
  MILLRACE_RETURN_IF_ERROR(rotate(node, sizes, &heads));
  if (can_read_buffers(node, sizes)) return attend_to_buffers(node, sizes, heads);
  MILLRACE_ASSIGN_OR_RETURN(const Cache keys, appended(node, kPastKey, heads.key, sizes));
  MILLRACE_ASSIGN_OR_RETURN(const Cache values, appended(node, kPastValue, heads.value, sizes));
  if (node.output_count() > 1) node.set_output(1, keys.returned);
  if (node.output_count() > 2) node.set_output(2, values.returned);
  return attend(node, sizes, {heads.query, keys.read, values.read});
}

}  // namespace millrace::lowering
