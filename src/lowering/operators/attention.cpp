// Handler of Attention of the standard: softmax(softcap(scale * Q K^T) + mask) V, with grouped
// query heads and keys and values of earlier calls. It becomes MatMul, Add and Softmax; the pass
// recognise_attention may make one operator of these again.
//
// Masks are of two kinds. `kept` is 1 for keys that a query sees and 0 for those that a boolean
// mask, -inf in a floating-point mask, causality or the length of a sequence excludes; `added` is a
// floating-point mask. Excluded keys get a large finite penalty, since -inf in all scores of a row
// would make its softmax NaN. The result of a query that sees no key at all is 0, as the standard
// says. With lengths of padded sequences and without a mask, it becomes an attention that reads no
// key after the end of a sequence (cached_attention()).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lowering/operators/bounded_constant.h"
#include "lowering/operators/handlers.h"
#include "lowering/operators/microsoft/heads.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using graph::UnaryKind;
using tensor::DataType;

constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kMask = 3, kPastKey = 4, kPastValue = 5,
                 kLengths = 6;
constexpr size_t kPresentKey = 1, kPresentValue = 2, kScores = 3;  // outputs

// The sum of both penalties is finite in BF16, too, and that of excluded keys outweighs the least
// that is added.
constexpr float kExcludedPenalty = -2e38f, kLeastAdded = -1e38f;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The stage of the scores that the output has: the attribute qk_matmul_output_mode.
enum class ScoreKind : int64_t { kProducts, kCapped, kMasked, kWeights };

struct Operands : Heads {
  int64_t past = 0;  // keys of earlier calls, which come first
};

// A mask; kNoValue where it excludes nothing, or adds nothing.
struct Mask {
  ValueId kept = kNoValue, added = kNoValue;
};

Status check_operands(NodeImport& node) {
  for (const size_t operand : {kKey, kValue})
    if (node.shape(operand).size() != node.shape(kQuery).size())
      return invalid_argument("its query, key and value differ in rank");
  if (node.has(kPastKey) != node.has(kPastValue))
    return invalid_argument("its past must have both keys and values");
  if (node.has(kPastKey) && node.has(kLengths))
    return invalid_argument("it has both a past and lengths of padded sequences");
  return {};
}

// Returns an operand as [batch, heads, length, size]. One of rank 3 is [batch, length, heads *
// size], and the attribute `count` says how many heads it has.
Result<ValueId> with_heads(NodeImport& node, size_t operand, const char* count) {
  const size_t rank = node.shape(operand).size();
  if (rank == 4) return node.operand(operand);
  const int64_t heads = node.int_attribute(count, 0);
  if (rank != 3 || heads < 1)
    return invalid_argument(
        fmt::format("its operands must have rank 4, or rank 3 and a positive {}", count));
  return split_heads(node, node.operand(operand), heads);
}

Status check_shapes(NodeImport& node, const Operands& operands) {
  const Dims &query = shape_of(node, operands.query), &key = shape_of(node, operands.key),
             &value = shape_of(node, operands.value);
  const bool fit = key[0] == query[0] && key[3] == query[3] && key[3] > 0 && value[0] == key[0] &&
                   value[1] == key[1] && value[2] == key[2];
  if (fit) return {};
  return invalid_argument(fmt::format("its query {}, key {} and value {} do not fit each other",
                                      graph::to_string(query), graph::to_string(key),
                                      graph::to_string(value)));
}

// Returns query, keys and values, including those of the past.
Result<Operands> operands_of(NodeImport& node) {
  Operands operands;
  MILLRACE_ASSIGN_OR_RETURN(operands.query, with_heads(node, kQuery, "q_num_heads"));
  MILLRACE_ASSIGN_OR_RETURN(operands.key, with_heads(node, kKey, "kv_num_heads"));
  MILLRACE_ASSIGN_OR_RETURN(operands.value, with_heads(node, kValue, "kv_num_heads"));
  if (node.has(kPastKey)) {
    if (node.shape(kPastKey).size() != 4)
      return invalid_argument("its past must be [batch, heads, length, size]");
    operands.past = node.shape(kPastKey)[2];
    MILLRACE_ASSIGN_OR_RETURN(operands.key,
                              append_to_past(node, node.operand(kPastKey), operands.key));
    MILLRACE_ASSIGN_OR_RETURN(operands.value,
                              append_to_past(node, node.operand(kPastValue), operands.value));
  }
  MILLRACE_RETURN_IF_ERROR(check_shapes(node, operands));
  return operands;
}

// Returns which keys causality lets each of the `queries` see: those up to its own position, which
// follows the past. kNoValue if even the first query sees all keys.
Result<ValueId> kept_by_causality(NodeImport& node, int64_t queries, int64_t past, int64_t keys) {
  if (past + 1 >= keys) return kNoValue;
  return add_table<float>(node, {queries, keys}, "a causal mask",
                          [past](int64_t query, int64_t key) { return key <= past + query; });
}

// Returns which keys the lengths of the sequences let each query see, [batch, 1, queries or 1,
// keys]: those before the end of the sequence. If the node is causal, the queries are the last
// tokens of the sequence, and each sees the keys up to its own position.
Result<ValueId> kept_by_lengths(NodeImport& node, int64_t queries, int64_t keys, bool is_causal) {
  const int64_t batch = node.shape(kQuery)[0], rows = is_causal ? queries : 1;
  if (node.shape(kLengths) != Dims{batch} || node.value(kLengths).type != DataType::kInt64)
    return invalid_argument("its lengths must be one INT64 for each entry of the batch");
  // The last query sees `length` keys, and each one before it one key less.
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId needed,
      add_table<int64_t>(node, {rows, keys}, "a list of positions",
                         [rows](int64_t row, int64_t key) { return key + rows - 1 - row; }));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId lengths,
                            node.reshape(node.operand(kLengths), {batch, 1, 1}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId kept, compared(node, "Less", needed, lengths));
  return node.reshape(kept, {batch, 1, rows, keys});
}

// Lengthens the last dimension of a mask to the number of keys: a mask that is too short excludes
// the last keys. kInvalidArgument if it then does not broadcast to the scores.
Result<ValueId> lengthened(NodeImport& node, ValueId mask, const Dims& scores, float excluded) {
  const Dims shape = shape_of(node, mask);
  const int64_t keys = scores.back();
  Dims wanted = shape;
  if (!shape.empty()) wanted.back() = std::max(shape.back(), keys);
  const Result<Dims> joint = graph::broadcast(scores, wanted);
  if (shape.empty() || !joint.ok() || *joint != scores)
    return invalid_argument(fmt::format("a mask {} does not fit scores {}", graph::to_string(shape),
                                        graph::to_string(scores)));
  if (shape.back() == keys) return mask;
  graph::Pad pad;
  pad.begin = pad.end = Dims(shape.size(), 0);
  pad.end.back() = keys - shape.back();
  pad.value = excluded;
  return node.emit(std::move(pad), {mask});
}

// Returns the mask operand: as `kept` if it is BOOLEAN, as `added` if FLOAT32.
Result<Mask> stated_mask(NodeImport& node, const Dims& scores) {
  Mask mask;
  if (!node.has(kMask)) return mask;
  const DataType type = node.value(kMask).type;
  if (type == DataType::kFloat32) {
    MILLRACE_ASSIGN_OR_RETURN(mask.added,
                              lengthened(node, node.operand(kMask), scores, -kInfinity));
  } else if (type == DataType::kBoolean) {
    MILLRACE_ASSIGN_OR_RETURN(mask.kept,
                              node.emit(graph::Cast{DataType::kFloat32}, {node.operand(kMask)}));
    MILLRACE_ASSIGN_OR_RETURN(mask.kept, lengthened(node, mask.kept, scores, 0));
  } else {
    return unsupported(
        fmt::format("a mask of {} is not supported; BOOLEAN, FLOAT, FLOAT16 and BFLOAT16 are",
                    tensor::to_string(type)));
  }
  return mask;
}

// Returns the product of two optional factors.
Result<ValueId> product_of(NodeImport& node, ValueId a, ValueId b) {
  if (a == kNoValue) return b;
  return b == kNoValue ? Result<ValueId>(a) : node.binary(BinaryKind::kMul, a, b);
}

bool is_one_everywhere(NodeImport& node, ValueId id) {
  const graph::Value& value = node.builder().value(id);
  return value.constant && std::ranges::all_of(value.constant->as<float>(),
                                               [](float element) { return element == 1; });
}

// Returns which keys a floating-point mask keeps: those without -inf. kNoValue if it keeps all.
Result<ValueId> kept_by_sum(NodeImport& node, ValueId added) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId excluded, scalar_constant(node, -kInfinity));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId kept, compared(node, "Greater", added, excluded));
  return is_one_everywhere(node, kept) ? Result<ValueId>(kNoValue) : kept;
}

// Returns the mask of everything that excludes keys.
Result<Mask> mask_of(NodeImport& node, const Operands& operands) {
  Dims scores = shape_of(node, operands.query);
  scores[3] = shape_of(node, operands.key)[2];
  const int64_t queries = scores[2], keys = scores[3];
  const bool is_causal = node.int_attribute("is_causal", 0) != 0;
  MILLRACE_ASSIGN_OR_RETURN(Mask mask, stated_mask(node, scores));
  if (mask.added != kNoValue) {
    MILLRACE_ASSIGN_OR_RETURN(mask.kept, kept_by_sum(node, mask.added));
  }
  ValueId visible = kNoValue;
  if (node.has(kLengths)) {
    MILLRACE_ASSIGN_OR_RETURN(visible, kept_by_lengths(node, queries, keys, is_causal));
  } else if (is_causal) {
    MILLRACE_ASSIGN_OR_RETURN(visible, kept_by_causality(node, queries, operands.past, keys));
  }
  MILLRACE_ASSIGN_OR_RETURN(mask.kept, product_of(node, mask.kept, visible));
  return mask;
}

// Returns the scores with the mask added, for the softmax.
Result<ValueId> penalised(NodeImport& node, ValueId scores, const Mask& mask) {
  ValueId sum = kNoValue;
  if (mask.added != kNoValue) {
    MILLRACE_ASSIGN_OR_RETURN(sum, node.unary(UnaryKind::kClip, mask.added, kLeastAdded,
                                              std::numeric_limits<float>::max()));
  }
  if (mask.kept != kNoValue) {
    MILLRACE_ASSIGN_OR_RETURN(
        const ValueId penalty,
        node.unary(UnaryKind::kLinear, mask.kept, -kExcludedPenalty, kExcludedPenalty));
    if (sum == kNoValue) {
      sum = penalty;
    } else {
      MILLRACE_ASSIGN_OR_RETURN(sum, node.binary(BinaryKind::kAdd, sum, penalty));
    }
  }
  return sum == kNoValue ? Result<ValueId>(scores) : node.binary(BinaryKind::kAdd, scores, sum);
}

// Returns the scores with the mask applied as the standard defines it: excluded ones are -inf.
Result<ValueId> masked(NodeImport& node, ValueId scores, const Mask& mask) {
  if (mask.added != kNoValue) {
    MILLRACE_ASSIGN_OR_RETURN(scores, node.binary(BinaryKind::kAdd, scores, mask.added));
  }
  if (mask.kept == kNoValue) return scores;
  MILLRACE_ASSIGN_OR_RETURN(const ValueId kept,
                            node.emit(graph::Cast{DataType::kBoolean}, {mask.kept}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId excluded, scalar_constant(node, -kInfinity));
  MILLRACE_ASSIGN_OR_RETURN(const auto chosen,
                            node.emit_fallback({"Where", {}}, {kept, scores, excluded}, 1));
  return chosen[0];
}

// Returns 1 for queries that see a key and 0 for others, [..., queries or 1, 1]; kNoValue if all
// queries see one.
Result<ValueId> sees_any(NodeImport& node, const Mask& mask) {
  if (mask.kept == kNoValue) return kNoValue;
  const auto last = static_cast<int64_t>(shape_of(node, mask.kept).size()) - 1;
  MILLRACE_ASSIGN_OR_RETURN(const ValueId any,
                            node.reduce(graph::ReduceKind::kMax, mask.kept, {last}, true));
  return is_one_everywhere(node, any) ? Result<ValueId>(kNoValue) : any;
}

Result<ScoreKind> score_kind(NodeImport& node) {
  const int64_t mode = node.int_attribute("qk_matmul_output_mode", 0);
  if (mode >= 0 && mode <= static_cast<int64_t>(ScoreKind::kWeights))
    return static_cast<ScoreKind>(mode);
  return invalid_argument("qk_matmul_output_mode must be 0, 1, 2 or 3");
}

float scale_of_standard(NodeImport& node, const Operands& operands) {
  return node.float_attribute("scale",
                              1 / std::sqrt(static_cast<float>(shape_of(node, operands.key)[3])));
}

// The stages of the scores, by ScoreKind. Stages that the output does not need may be kNoValue.
using Stages = std::array<ValueId, 4>;

// Emits the attention from the operands to the sums of values, [batch, heads, queries, size].
Result<ValueId> attend_to(NodeImport& node, const Operands& operands, const Mask& mask,
                          ScoreKind wanted, Stages* stages) {
  const auto stage = [stages](ScoreKind kind) -> ValueId& {
    return (*stages)[static_cast<size_t>(kind)];
  };
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId products,
      grouped_scores(node, operands.query, operands.key, scale_of_standard(node, operands)));
  stage(ScoreKind::kProducts) = products;
  MILLRACE_ASSIGN_OR_RETURN(const ValueId capped,
                            soft_capped(node, products, node.float_attribute("softcap", 0)));
  stage(ScoreKind::kCapped) = capped;
  if (wanted == ScoreKind::kMasked) {
    MILLRACE_ASSIGN_OR_RETURN(stage(ScoreKind::kMasked), masked(node, capped, mask));
  }
  MILLRACE_ASSIGN_OR_RETURN(const ValueId scores, penalised(node, capped, mask));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId weights, node.emit(graph::Softmax{3, false}, {scores}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId any, sees_any(node, mask));
  if (wanted == ScoreKind::kWeights) {
    MILLRACE_ASSIGN_OR_RETURN(stage(ScoreKind::kWeights), product_of(node, weights, any));
  }
  MILLRACE_ASSIGN_OR_RETURN(const ValueId sums, grouped_sums(node, weights, operands.value));
  return product_of(node, sums, any);
}

// Whether cached_attention() has all that the node asks for.
bool has_only_lengths(NodeImport& node) {
  return node.has(kLengths) && !node.has(kMask) && !(node.float_attribute("softcap", 0) > 0) &&
         node.output_count() <= kScores;
}

// Returns the result, [batch, heads, queries, size], and sets the output of scores.
Result<ValueId> attended(NodeImport& node, const Operands& operands) {
  MILLRACE_ASSIGN_OR_RETURN(const ScoreKind wanted, score_kind(node));
  if (has_only_lengths(node))
    return cached_attention(node, operands, node.operand(kLengths), kNoValue,
                            scale_of_standard(node, operands),
                            {.is_causal = node.int_attribute("is_causal", 0) != 0});
  MILLRACE_ASSIGN_OR_RETURN(const Mask mask, mask_of(node, operands));
  Stages stages;
  stages.fill(kNoValue);
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, attend_to(node, operands, mask, wanted, &stages));
  if (node.output_count() > kScores) node.set_output(kScores, stages[static_cast<size_t>(wanted)]);
  return y;
}

}  // namespace

// Inputs: query; key; value; mask; past keys; past values; lengths of the sequences in keys that
// are padded. Outputs: the result; keys; values, both including those of the past; scores.
Result<ValueId> import_standard_attention(NodeImport& node) {
  MILLRACE_RETURN_IF_ERROR(check_operands(node));
  MILLRACE_ASSIGN_OR_RETURN(const Operands operands, operands_of(node));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, attended(node, operands));
  if (node.output_count() > kPresentKey) node.set_output(kPresentKey, operands.key);
  if (node.output_count() > kPresentValue) node.set_output(kPresentValue, operands.value);
  return node.shape(kQuery).size() == 3 ? join_heads(node, y) : Result<ValueId>(y);
}

}  // namespace millrace::lowering
