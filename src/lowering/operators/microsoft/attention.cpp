// Handlers of Attention, QAttention, MultiHeadAttention and DecoderMaskedMultiHeadAttention of
// com.microsoft. They become scaled dot-product attention, softmax(scale * Q K^T + masks) V, of
// MatMul, Add and Softmax; the pass recognise_attention may make one operator of these again. Q, K
// and V are [batch, heads, length, head size]. Masks are additive: 0 for positions that count, a
// large negative value for the others.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lowering/operators/bounded_constant.h"
#include "lowering/operators/handlers.h"
#include "lowering/operators/microsoft/heads.h"
#include "lowering/operators/quantised/integer_product.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using graph::UnaryKind;
using tensor::DataType;

struct Lengths {
  int64_t batch = 0, queries = 0, past = 0, keys = 0;  // `keys` includes the past ones
};

// Returns the additive mask of `kept`: 1 becomes 0, and 0 becomes the attribute mask_filter_value.
Result<ValueId> penalty_of(NodeImport& node, ValueId kept, Dims shape) {
  const float filter = node.float_attribute("mask_filter_value", -10000);
  MILLRACE_ASSIGN_OR_RETURN(kept, node.reshape(kept, std::move(shape)));
  return node.unary(UnaryKind::kLinear, kept, -filter, filter);
}

// Returns the constant 0, 1, ..., count - 1, as INT32.
Result<ValueId> integers(NodeImport& node, int64_t count) {
  return add_table<int32_t>(node, {count}, "a list of lengths",
                            [](int64_t, int64_t position) { return position; });
}

// Returns the additive mask for a mask tensor, in which positive elements mark positions that
// count. It is [batch, keys], [batch, queries, keys] or [batch, 1, maximum length, maximum length].
Result<ValueId> penalty_of_mask(NodeImport& node, ValueId mask, const Lengths& lengths) {
  const Dims shape = shape_of(node, mask);
  MILLRACE_ASSIGN_OR_RETURN(const ValueId none, integers(node, 1));
  if (shape == Dims{lengths.batch, lengths.keys} ||
      shape == Dims{lengths.batch, lengths.queries, lengths.keys}) {
    MILLRACE_ASSIGN_OR_RETURN(const ValueId kept, compared(node, "Greater", mask, none));
    const int64_t rows = shape.size() == 3 ? lengths.queries : 1;
    return penalty_of(node, kept, {lengths.batch, 1, rows, lengths.keys});
  }
  const bool is_square = shape.size() == 4 && shape[0] == lengths.batch && shape[1] == 1 &&
                         shape[2] >= lengths.keys && shape[3] >= lengths.keys;
  if (!is_square)
    return unsupported(fmt::format("a mask {} for {} queries and {} keys is not supported",
                                   graph::to_string(shape), lengths.queries, lengths.keys));
  MILLRACE_ASSIGN_OR_RETURN(mask, part_of(node, mask, 2, lengths.past, lengths.queries));
  MILLRACE_ASSIGN_OR_RETURN(mask, part_of(node, mask, 3, 0, lengths.keys));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId kept, compared(node, "Greater", mask, none));
  return penalty_of(node, kept, shape_of(node, kept));
}

// Returns the additive mask for a vector of the end of each sequence, which may be followed by the
// begin of each sequence.
Result<ValueId> penalty_of_ends(NodeImport& node, ValueId ends, const Lengths& lengths) {
  const int64_t count = shape_of(node, ends)[0], batch = lengths.batch;
  if (count != batch && count != 2 * batch)
    return unsupported(
        fmt::format("a mask of {} lengths for {} sequences is not supported", count, batch));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId positions, integers(node, lengths.keys));
  MILLRACE_ASSIGN_OR_RETURN(ValueId column, part_of(node, ends, 0, 0, batch));
  MILLRACE_ASSIGN_OR_RETURN(column, node.reshape(column, {batch, 1}));
  MILLRACE_ASSIGN_OR_RETURN(ValueId kept, compared(node, "Less", positions, column));
  if (count == 2 * batch) {
    MILLRACE_ASSIGN_OR_RETURN(column, part_of(node, ends, 0, batch, batch));
    MILLRACE_ASSIGN_OR_RETURN(column, node.reshape(column, {batch, 1}));
    MILLRACE_ASSIGN_OR_RETURN(const ValueId begun,
                              compared(node, "GreaterOrEqual", positions, column));
    MILLRACE_ASSIGN_OR_RETURN(kept, node.binary(BinaryKind::kMul, kept, begun));
  }
  return penalty_of(node, kept, {batch, 1, 1, lengths.keys});
}

// Returns all tensors that are added to the scores. `mask` and `bias` are indices of operands that
// may be absent.
Result<std::vector<ValueId>> penalties(NodeImport& node, size_t mask, size_t bias,
                                       const Lengths& lengths) {
  std::vector<ValueId> result;
  if (node.has(mask)) {
    if (node.value(mask).type != DataType::kInt32)
      return invalid_argument("its mask must be INT32");
    const bool is_list = node.shape(mask).size() == 1;
    MILLRACE_ASSIGN_OR_RETURN(result.emplace_back(),
                              is_list ? penalty_of_ends(node, node.operand(mask), lengths)
                                      : penalty_of_mask(node, node.operand(mask), lengths));
  }
  if (node.int_attribute("unidirectional", 0) != 0) {
    // As in ONNX Runtime, a query attends to later keys, too, if a bias of -inf hides all others.
    constexpr float kLowest = std::numeric_limits<float>::lowest();
    MILLRACE_ASSIGN_OR_RETURN(
        result.emplace_back(),
        causal_window_mask(node, lengths.queries, lengths.past, lengths.keys, -1, kLowest));
  }
  if (node.has(bias)) result.push_back(node.operand(bias));
  return result;
}

// Emits softmax(scale * query key^T + penalties) value, and joins the heads.
Result<ValueId> attend(NodeImport& node, const Heads& heads,
                       const std::vector<ValueId>& penalties) {
  const auto size = static_cast<float>(shape_of(node, heads.query)[3]);
  graph::MatMul product;
  product.transpose_b = true;
  product.alpha = node.float_attribute("scale", 0);
  if (product.alpha == 0) product.alpha = 1 / std::sqrt(size);
  MILLRACE_ASSIGN_OR_RETURN(ValueId scores, node.emit(product, {heads.query, heads.key}));
  for (const ValueId penalty : penalties) {
    MILLRACE_ASSIGN_OR_RETURN(scores, node.binary(BinaryKind::kAdd, scores, penalty));
  }
  MILLRACE_ASSIGN_OR_RETURN(const ValueId weights, node.emit(graph::Softmax{3, false}, {scores}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId result,
                            node.emit(graph::MatMul{}, {weights, heads.value}));
  return join_heads(node, result);
}

// Returns the past keys (index 0) or past values (index 1) of [2, batch, heads, past, size].
Result<ValueId> past_part(NodeImport& node, ValueId past, int64_t index) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId part, part_of(node, past, 0, index, 1));
  const Dims shape = shape_of(node, part);
  return node.reshape(part, Dims(shape.begin() + 1, shape.end()));
}

// Joins keys and values to [2, batch, heads, length, size], the form in which Attention returns
// them as the past of the next call.
Result<ValueId> stack(NodeImport& node, ValueId key, ValueId value) {
  std::vector<ValueId> parts;
  for (const ValueId part : {key, value}) {
    Dims shape = shape_of(node, part);
    shape.insert(shape.begin(), 1);
    MILLRACE_ASSIGN_OR_RETURN(parts.emplace_back(), node.reshape(part, std::move(shape)));
  }
  return node.emit(graph::Concat{0}, std::move(parts));
}

// Returns how many of the `whole` columns of the projection are query, key and value.
Result<Dims> projected_sizes(NodeImport& node, int64_t whole) {
  const Dims sizes = node.ints_attribute("qkv_hidden_sizes").value_or(Dims(3, whole / 3));
  const bool fits = sizes.size() == 3 && sizes[0] > 0 && sizes[2] > 0 && sizes[0] == sizes[1] &&
                    sizes[0] <= whole && sizes[2] <= whole && 2 * sizes[0] + sizes[2] == whole;
  if (fits) return sizes;
  return invalid_argument(
      fmt::format("query, key and value of sizes {} do not fit weights with {} columns",
                  graph::to_string(sizes), whole));
}

Status check_projection(NodeImport& node) {
  if (node.shape(0).size() == 3 && node.shape(1).size() == 2) return {};
  return invalid_argument("its input must be [batch, length, size], and its weights a matrix");
}

// Splits `all`, the projected input, into query, key and value, and these into heads.
Result<Heads> split_projection(NodeImport& node, ValueId all, int64_t heads) {
  MILLRACE_ASSIGN_OR_RETURN(const Dims sizes, projected_sizes(node, node.shape(1)[1]));
  std::vector<ValueId> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    MILLRACE_ASSIGN_OR_RETURN(const ValueId part, part_of(node, all, 2, begin, size));
    MILLRACE_ASSIGN_OR_RETURN(parts.emplace_back(), split_heads(node, part, heads));
    begin += size;
  }
  return Heads{parts[0], parts[1], parts[2]};
}

Lengths lengths_of(NodeImport& node, const Heads& heads, int64_t past) {
  const Dims& query = shape_of(node, heads.query);
  return {query[0], query[2], past, shape_of(node, heads.key)[2]};
}

Result<int64_t> number_of_heads(NodeImport& node) {
  const int64_t heads = node.int_attribute("num_heads", 0);
  return heads > 0 ? Result<int64_t>(heads) : invalid_argument("num_heads must be positive");
}

Result<int64_t> heads_of(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const int64_t heads, number_of_heads(node));
  if (node.int_attribute("do_rotary", 0) != 0) return unsupported("do_rotary is set");
  if (node.int_attribute("past_present_share_buffer", 0) != 0)
    return unsupported("past_present_share_buffer is set");
  return heads;
}

// The indices of the optional operands.
struct Places {
  size_t mask, past, bias;
};

// Emits everything after the projection. The second output is keys and values, appended to those of
// the past.
Result<ValueId> attend_projected(NodeImport& node, ValueId all, int64_t count,
                                 const Places& places) {
  MILLRACE_ASSIGN_OR_RETURN(Heads heads, split_projection(node, all, count));
  int64_t past = 0;
  if (node.has(places.past)) {
    const Dims& shape = node.shape(places.past);
    if (shape.size() != 5 || shape[0] != 2)
      return invalid_argument("its past must be [2, batch, heads, length, size]");
    past = shape[3];
    const ValueId both = node.operand(places.past);
    MILLRACE_ASSIGN_OR_RETURN(const ValueId keys, past_part(node, both, 0));
    MILLRACE_ASSIGN_OR_RETURN(const ValueId values, past_part(node, both, 1));
    MILLRACE_ASSIGN_OR_RETURN(heads.key, append_to_past(node, keys, heads.key));
    MILLRACE_ASSIGN_OR_RETURN(heads.value, append_to_past(node, values, heads.value));
  }
  if (node.output_count() > 1) {
    MILLRACE_ASSIGN_OR_RETURN(const ValueId present, stack(node, heads.key, heads.value));
    node.set_output(1, present);
  }
  MILLRACE_ASSIGN_OR_RETURN(
      const auto added, penalties(node, places.mask, places.bias, lengths_of(node, heads, past)));
  return attend(node, heads, added);
}

// Where the bias of the query, key or value lies: the index of an operand that may be absent, and
// the first of its elements that apply.
struct Bias {
  size_t operand;
  int64_t begin;
};

// Splits an operand of MultiHeadAttention or of its decoder into heads. An operand of rank 3 gets
// its part of the bias first; a key or value of rank 4 has separate heads already.
Result<ValueId> biased_heads(NodeImport& node, size_t operand, const Bias& place, int64_t heads) {
  ValueId x = node.operand(operand);
  const size_t rank = node.shape(operand).size();
  if (rank == 4 && operand != 0) return x;
  if (rank != 3) return unsupported("packed query, key and value are not supported");
  if (node.has(place.operand)) {
    const int64_t size = node.shape(operand)[2];
    const Dims& all = node.shape(place.operand);
    if (all.size() != 1 || all[0] < place.begin + size)
      return invalid_argument("its bias must be a vector for query, key and value together");
    MILLRACE_ASSIGN_OR_RETURN(const ValueId bias,
                              part_of(node, node.operand(place.operand), 0, place.begin, size));
    MILLRACE_ASSIGN_OR_RETURN(x, node.binary(BinaryKind::kAdd, x, bias));
  }
  return split_heads(node, x, heads);
}

// Splits query, key and value, the first operands, into heads. They have parts of one bias, an
// operand that may be absent.
Result<Heads> separate_heads(NodeImport& node, size_t bias, int64_t count) {
  if (!node.has(1) || !node.has(2) || node.shape(0).size() != 3)
    return unsupported("packed query, key and value are not supported");
  const int64_t size = node.shape(0)[2];
  Heads heads;
  MILLRACE_ASSIGN_OR_RETURN(heads.query, biased_heads(node, 0, {bias, 0}, count));
  MILLRACE_ASSIGN_OR_RETURN(heads.key, biased_heads(node, 1, {bias, size}, count));
  MILLRACE_ASSIGN_OR_RETURN(heads.value, biased_heads(node, 2, {bias, 2 * size}, count));
  return heads;
}

// The operands of DecoderMaskedMultiHeadAttention.
constexpr size_t kDecoderMask = 3, kScoreBias = 4, kPastKeys = 5, kPastValues = 6, kPastLength = 7,
                 kBeamWidth = 8, kIndirection = 9, kProjectionBias = 10;

// Returns how many positions of the past keys are in use: all, unless the past is a buffer with
// room for the next ones, whose use an operand states.
Result<int64_t> past_in_use(NodeImport& node) {
  if (node.has(kPastKeys) != node.has(kPastValues))
    return invalid_argument("its past must have both keys and values");
  if (!node.has(kPastKeys)) return 0;
  const Dims& past = node.shape(kPastKeys);
  if (past.size() != 4 || node.shape(kPastValues).size() != 4 ||
      node.shape(kPastValues)[2] != past[2])
    return invalid_argument("its past must be [batch, heads, length, size]");
  if (node.int_attribute("past_present_share_buffer", 0) == 0) return past[2];
  if (!node.has(kPastLength)) return invalid_argument("its past_sequence_length is missing");
  MILLRACE_ASSIGN_OR_RETURN(const Dims length, node.constant_ints(kPastLength));
  if (length.size() == 1 && length[0] >= 0 && length[0] < past[2]) return length[0];
  return invalid_argument(fmt::format(
      "its past_sequence_length must be one integer, less than the {} positions of its past",
      past[2]));
}

// Appends the keys and values of the new token to the past.
Status append_token(NodeImport& node, int64_t used, Heads* heads) {
  MILLRACE_ASSIGN_OR_RETURN(const Cache keys,
                            write_to_buffer(node, node.operand(kPastKeys), used, heads->key));
  MILLRACE_ASSIGN_OR_RETURN(const Cache values,
                            write_to_buffer(node, node.operand(kPastValues), used, heads->value));
  heads->key = keys.read;
  heads->value = values.read;
  if (node.output_count() > 1) node.set_output(1, keys.returned);
  if (node.output_count() > 2) node.set_output(2, values.returned);
  return {};
}

}  // namespace

// Inputs: x; weights and bias of the projection; mask; past; bias of the scores. Outputs: the
// result; keys and values, including those of the past.
Result<ValueId> import_attention(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const int64_t count, heads_of(node));
  MILLRACE_RETURN_IF_ERROR(check_projection(node));
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId all,
      node.emit(graph::MatMul{}, {node.operand(0), node.operand(1), node.operand(2)}));
  return attend_projected(node, all, count, {3, 4, 5});
}

// Inputs: x; weights and bias of the projection; scales of x and the weights; mask; zero points of
// x and the weights; past. The outputs are those of Attention.
Result<ValueId> import_quantised_attention(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const int64_t count, heads_of(node));
  MILLRACE_RETURN_IF_ERROR(check_projection(node));
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId all,
      scaled_product(node, {node.operand(0), node.operand(1), node.operand(3), node.operand(4),
                            node.operand(6), node.operand(7), node.operand(2)}));
  constexpr size_t kNoBias = 9;  // one more than the last operand
  return attend_projected(node, all, count, {5, 8, kNoBias});
}

// Inputs: query; key; value; their bias; mask; bias of the scores; past keys; past values. Outputs:
// the result; keys; values, both including those of the past.
Result<ValueId> import_multi_head_attention(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const int64_t count, heads_of(node));
  MILLRACE_ASSIGN_OR_RETURN(Heads heads, separate_heads(node, 3, count));
  int64_t past = 0;
  if (node.has(6) != node.has(7))
    return invalid_argument("its past must have both keys and values");
  if (node.has(6)) {
    if (node.shape(6).size() != 4)
      return invalid_argument("its past must be [batch, heads, length, size]");
    past = node.shape(6)[2];
    MILLRACE_ASSIGN_OR_RETURN(heads.key, append_to_past(node, node.operand(6), heads.key));
    MILLRACE_ASSIGN_OR_RETURN(heads.value, append_to_past(node, node.operand(7), heads.value));
  }
  if (node.output_count() > 1) node.set_output(1, heads.key);
  if (node.output_count() > 2) node.set_output(2, heads.value);
  MILLRACE_ASSIGN_OR_RETURN(const auto added, penalties(node, 4, 5, lengths_of(node, heads, past)));
  return attend(node, heads, added);
}

// The attention of one token. Inputs: query; key; value (of an encoder, with separate heads, or of
// the token); mask; bias of the scores; past keys; past values; length of the past; beam width;
// beams from which tokens came; bias of query, key and value. Outputs: the result; keys; values,
// both including those of the past.
Result<ValueId> import_decoder_masked_attention(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const int64_t count, number_of_heads(node));
  if (node.has(kBeamWidth) || node.has(kIndirection))
    return unsupported("beams (beam_width and cache_indirection) are not supported");
  MILLRACE_ASSIGN_OR_RETURN(Heads heads, separate_heads(node, kProjectionBias, count));
  int64_t used = 0;
  if (node.shape(1).size() == 3) {
    MILLRACE_ASSIGN_OR_RETURN(used, past_in_use(node));
    MILLRACE_RETURN_IF_ERROR(append_token(node, used, &heads));
  }
  MILLRACE_ASSIGN_OR_RETURN(
      const auto added, penalties(node, kDecoderMask, kScoreBias, lengths_of(node, heads, used)));
  return attend(node, heads, added);
}

}  // namespace millrace::lowering
