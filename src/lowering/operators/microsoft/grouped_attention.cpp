// Handler of GroupQueryAttention of com.microsoft: causal attention in which groups of query heads
// share a key and value head (grouped-query attention), with optional rotary embedding, sliding
// window and softcap. It becomes MatMul, Add and Softmax; the query heads of a group are stacked as
// rows of one matrix, so that keys and values are not repeated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lowering/operators/handlers.h"
#include "lowering/operators/microsoft/heads.h"
#include "lowering/operators/microsoft/rotary_embedding.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using graph::UnaryKind;

constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kPastKey = 3, kPastValue = 4, kLengths = 5,
                 kTotal = 6, kCos = 7, kSin = 8, kPositions = 9, kBias = 10, kSink = 11;

// `length` is that of the query, `total` that of the keys including past ones, and `size` that of a
// head.
struct Sizes {
  int64_t batch = 0, length = 0, total = 0, heads = 0, kv_heads = 0, size = 0;

  int64_t past() const { return total - length; }
};

Status check_variant(NodeImport& node) {
  if (node.int_attribute("smooth_softmax", 0) > 0) return unsupported("smooth_softmax is set");
  for (const char* name : {"k_quant_type", "v_quant_type"})
    if (node.string_attribute(name, "NONE") != "NONE")
      return unsupported(fmt::format("{} is set", name));
  if (node.has(kSink)) return unsupported("it has an input head_sink");
  if (node.output_count() > 3) return unsupported("it has an output of attention scores");
  return {};
}

// Checks that all sequences of a batch have pasts of the same length; `lengths` are the indices of
// their last tokens. Without a past they may differ.
Status check_lengths(NodeImport& node, const Sizes& sizes) {
  if (sizes.batch == 1 || sizes.past() == 0) return {};
  MILLRACE_ASSIGN_OR_RETURN(const Dims lengths, node.constant_ints(kLengths));
  const bool are_equal =
      std::ranges::all_of(lengths, [&](int64_t length) { return length == sizes.total - 1; });
  if (are_equal) return {};
  return unsupported("sequences of a batch with pasts of different lengths are not supported");
}

Status check_past(NodeImport& node, size_t index, const Sizes& sizes) {
  if (!node.has(index))
    return sizes.past() == 0 ? Status() : invalid_argument("its past keys or values are missing");
  const Dims wanted = {sizes.batch, sizes.kv_heads, sizes.past(), sizes.size};
  if (node.shape(index) == wanted) return {};
  return unsupported(fmt::format("past keys or values {} are not supported; expected {}",
                                 graph::to_string(node.shape(index)), graph::to_string(wanted)));
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
  for (const size_t past : {kPastKey, kPastValue})
    MILLRACE_RETURN_IF_ERROR(check_past(node, past, sizes));
  MILLRACE_RETURN_IF_ERROR(check_lengths(node, sizes));
  return sizes;
}

struct Heads {
  ValueId query = kNoValue, key = kNoValue, value = kNoValue;
};

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

// Returns the rows of a table of cosines or sines for the positions of the query, as
// [batch or 1, 1, length, half of the rotated size].
Result<ValueId> rows_of(NodeImport& node, size_t table, const Sizes& sizes) {
  if (!node.has(table) || node.shape(table).size() != 2 || node.shape(table)[0] < sizes.total)
    return invalid_argument("its cosines and sines must have a row for each position");
  ValueId rows = kNoValue;
  if (node.has(kPositions)) {
    MILLRACE_ASSIGN_OR_RETURN(
        rows, node.emit(graph::Gather{0}, {node.operand(table), node.operand(kPositions)}));
  } else {
    MILLRACE_ASSIGN_OR_RETURN(rows,
                              part_of(node, node.operand(table), 0, sizes.past(), sizes.length));
  }
  const int64_t batch = node.has(kPositions) ? sizes.batch : 1;
  return node.reshape(rows, {batch, 1, sizes.length, node.shape(table)[1]});
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

// Emits softcap * tanh(scores / softcap), if the node has a softcap.
Result<ValueId> capped(NodeImport& node, ValueId scores) {
  const float cap = node.float_attribute("softcap", 0);
  if (!(cap > 0)) return scores;
  MILLRACE_ASSIGN_OR_RETURN(scores, node.unary(UnaryKind::kLinear, scores, 1 / cap));
  MILLRACE_ASSIGN_OR_RETURN(scores, node.unary(UnaryKind::kTanh, scores));
  return node.unary(UnaryKind::kLinear, scores, cap);
}

// Emits the attention. The query heads of a group are stacked: [batch, heads, length, size] is
// reshaped to [batch, kv_heads, heads / kv_heads * length, size].
Result<ValueId> attend(NodeImport& node, const Sizes& sizes, const Heads& heads) {
  const int64_t rows = sizes.heads / sizes.kv_heads * sizes.length;
  const Dims grouped = {sizes.batch, sizes.kv_heads, rows, sizes.total};
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId query,
      node.reshape(heads.query, {sizes.batch, sizes.kv_heads, rows, sizes.size}));
  graph::MatMul product;
  product.transpose_b = true;
  product.alpha = node.float_attribute("scale", 0);
  if (product.alpha == 0) product.alpha = 1 / std::sqrt(static_cast<float>(sizes.size));
  MILLRACE_ASSIGN_OR_RETURN(ValueId scores, node.emit(product, {query, heads.key}));
  MILLRACE_ASSIGN_OR_RETURN(
      scores, node.reshape(scores, {sizes.batch, sizes.heads, sizes.length, sizes.total}));
  MILLRACE_ASSIGN_OR_RETURN(scores, capped(node, scores));
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId penalty,
      penalty_of_keys_out_of_sight(node, sizes.length, sizes.past(), sizes.total,
                                   node.int_attribute("local_window_size", -1)));
  MILLRACE_ASSIGN_OR_RETURN(scores, node.binary(BinaryKind::kAdd, scores, penalty));
  if (node.has(kBias)) {
    MILLRACE_ASSIGN_OR_RETURN(scores, node.binary(BinaryKind::kAdd, scores, node.operand(kBias)));
  }
  MILLRACE_ASSIGN_OR_RETURN(ValueId weights, node.emit(graph::Softmax{3, false}, {scores}));
  MILLRACE_ASSIGN_OR_RETURN(weights, node.reshape(weights, grouped));
  MILLRACE_ASSIGN_OR_RETURN(ValueId result, node.emit(graph::MatMul{}, {weights, heads.value}));
  MILLRACE_ASSIGN_OR_RETURN(
      result, node.reshape(result, {sizes.batch, sizes.heads, sizes.length, sizes.size}));
  return join_heads(node, result);
}

}  // namespace

// Inputs: query; key; value (or all three in the first); past keys; past values; index of the last
// token of each sequence; length of the sequences; cosines; sines; positions; bias of the scores.
// Outputs: the result; keys; values, both including those of the past.
Result<ValueId> import_group_query_attention(NodeImport& node) {
  MILLRACE_RETURN_IF_ERROR(check_variant(node));
  MILLRACE_ASSIGN_OR_RETURN(const Sizes sizes, sizes_of(node));
  MILLRACE_ASSIGN_OR_RETURN(Heads heads, heads_of(node, sizes));
  MILLRACE_RETURN_IF_ERROR(rotate(node, sizes, &heads));
  if (sizes.past() > 0) {
    MILLRACE_ASSIGN_OR_RETURN(heads.key, append_to_past(node, node.operand(kPastKey), heads.key));
    MILLRACE_ASSIGN_OR_RETURN(heads.value,
                              append_to_past(node, node.operand(kPastValue), heads.value));
  }
  if (node.output_count() > 1) node.set_output(1, heads.key);
  if (node.output_count() > 2) node.set_output(2, heads.value);
  return attend(node, sizes, heads);
}

}  // namespace millrace::lowering
