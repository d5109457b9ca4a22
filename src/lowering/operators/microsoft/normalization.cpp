// Handlers of fused normalisations of com.microsoft: SkipLayerNormalization and
// SkipSimplifiedLayerNormalization (residual Add, then layer normalisation or RMS normalisation),
// and EmbedLayerNormalization and its quantised form (embedding lookups, Add, layer normalisation).
// They are decomposed into Gather, Add and the normalisation as a fallback operator.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lowering/operators/bounded_constant.h"
#include "lowering/operators/handlers.h"
#include "lowering/operators/microsoft/heads.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using tensor::DataType;

constexpr float kEpsilon = 1e-12f;  // the default of the attribute epsilon

// Emits input + skip + bias; `bias` is the index of the bias operand, which may be absent.
Result<ValueId> sum_with_skip(NodeImport& node, size_t bias) {
  MILLRACE_ASSIGN_OR_RETURN(ValueId sum,
                            node.binary(BinaryKind::kAdd, node.operand(0), node.operand(1)));
  if (node.has(bias)) {
    MILLRACE_ASSIGN_OR_RETURN(sum, node.binary(BinaryKind::kAdd, sum, node.operand(bias)));
  }
  return sum;
}

graph::Fallback layer_norm(const char* name, float epsilon) {
  return {name, {{"axis", int64_t{-1}}, {"epsilon", epsilon}}};
}

// The embedding tables of an EmbedLayerNormalization, [rows, size], and the scale and bias of the
// normalisation. A value is kNoValue if it is left out.
struct Tables {
  ValueId words, positions, segments, scale, bias;
};
constexpr size_t kWordIds = 0, kSegmentIds = 1, kMask = 7;

// Returns the first `length` rows of the position embedding: the default positions are 0, 1, ...
Result<ValueId> first_positions(NodeImport& node, ValueId table, int64_t length) {
  const Dims& shape = shape_of(node, table);
  if (shape.size() != 2 || shape[0] < length)
    return invalid_argument(
        fmt::format("its position embedding {} must have rank 2 and at least {} rows",
                    graph::to_string(shape), length));
  return node.emit(graph::Slice{{0, 0}, {length, shape[1]}, {1, 1}}, {table});
}

// Emits the sum of the embeddings of each token: word, position and, if present, segment.
// `position_ids` may be kNoValue.
Result<ValueId> sum_of_rows(NodeImport& node, const Tables& tables, ValueId position_ids) {
  MILLRACE_ASSIGN_OR_RETURN(ValueId sum,
                            node.emit(graph::Gather{0}, {tables.words, node.operand(kWordIds)}));
  ValueId positions = kNoValue;
  if (position_ids != kNoValue) {
    MILLRACE_ASSIGN_OR_RETURN(positions,
                              node.emit(graph::Gather{0}, {tables.positions, position_ids}));
  } else {
    MILLRACE_ASSIGN_OR_RETURN(positions,
                              first_positions(node, tables.positions, node.shape(kWordIds)[1]));
  }
  MILLRACE_ASSIGN_OR_RETURN(sum, node.binary(BinaryKind::kAdd, sum, positions));
  if (!node.has(kSegmentIds) || tables.segments == kNoValue) return sum;
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId segments,
      node.emit(graph::Gather{0}, {tables.segments, node.operand(kSegmentIds)}));
  return node.binary(BinaryKind::kAdd, sum, segments);
}

// Returns how many tokens of each sequence the mask keeps, as INT32; 0 if there is no mask.
Result<ValueId> count_tokens(NodeImport& node, size_t mask) {
  if (!node.has(mask)) {
    MILLRACE_ASSIGN_OR_RETURN(
        MutableConstant none,
        bounded_constant(node, DataType::kInt32, {node.shape(0)[0]}, "a list of lengths"));
    std::ranges::fill(none.as<int32_t>(), 0);
    return node.add_computed(std::move(none.value));
  }
  MILLRACE_ASSIGN_OR_RETURN(ValueId counted,
                            node.emit(graph::Cast{DataType::kFloat32}, {node.operand(mask)}));
  MILLRACE_ASSIGN_OR_RETURN(counted, node.reduce(graph::ReduceKind::kSum, counted, {1}, false));
  return node.emit(graph::Cast{DataType::kInt32}, {counted});
}

// Emits embedding and normalisation. Outputs: the normalised sum of the embeddings; the number of
// tokens of each sequence; the sum.
Result<ValueId> embed(NodeImport& node, const Tables& tables, ValueId position_ids) {
  if (node.shape(kWordIds).size() != 2)
    return invalid_argument("its token ids must be [batch, length]");
  MILLRACE_ASSIGN_OR_RETURN(const ValueId sum, sum_of_rows(node, tables, position_ids));
  MILLRACE_ASSIGN_OR_RETURN(
      const auto results, node.emit_fallback(layer_norm("LayerNormalization",
                                                        node.float_attribute("epsilon", kEpsilon)),
                                             {sum, tables.scale, tables.bias}, 1));
  if (node.output_count() > 1) {
    MILLRACE_ASSIGN_OR_RETURN(const ValueId tokens, count_tokens(node, kMask));
    node.set_output(1, tokens);
  }
  if (node.output_count() > 2) node.set_output(2, sum);
  return results[0];
}

}  // namespace

// Outputs: the normalised sum; its mean; its inverse standard deviation; the sum itself.
Result<ValueId> import_skip_layer_norm(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId sum, sum_with_skip(node, 4));
  MILLRACE_ASSIGN_OR_RETURN(
      const auto results, node.emit_fallback(layer_norm("LayerNormalization",
                                                        node.float_attribute("epsilon", kEpsilon)),
                                             {sum, node.operand(2), node.operand(3)}, 3));
  if (node.output_count() > 1) node.set_output(1, results[1]);
  if (node.output_count() > 2) node.set_output(2, results[2]);
  if (node.output_count() > 3) node.set_output(3, sum);
  return results[0];
}

// RMS normalisation: like SkipLayerNormalization, but without subtraction of the mean.
Result<ValueId> import_skip_simplified_layer_norm(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId sum, sum_with_skip(node, 3));
  MILLRACE_ASSIGN_OR_RETURN(
      const auto results, node.emit_fallback(layer_norm("SimplifiedLayerNormalization",
                                                        node.float_attribute("epsilon", kEpsilon)),
                                             {sum, node.operand(2)}, 2));
  if (node.output_count() > 2) node.set_output(2, results[1]);
  if (node.output_count() > 3) node.set_output(3, sum);
  return results[0];
}

// Inputs: token ids; segment ids; word, position and segment embedding; scale; bias; mask; position
// ids.
Result<ValueId> import_embed_layer_norm(NodeImport& node) {
  if (!node.has(2) || !node.has(3) || !node.has(5) || !node.has(6))
    return invalid_argument("its word embedding, position embedding, scale or bias is missing");
  return embed(
      node, {node.operand(2), node.operand(3), node.operand(4), node.operand(5), node.operand(6)},
      node.operand(8));
}

// Inputs: those of EmbedLayerNormalization without position ids, where the embeddings, scale and
// bias (five operands) are quantised; then a quantisation scale for each of the five, and a zero
// point for each.
Result<ValueId> import_quantised_embed_layer_norm(NodeImport& node) {
  constexpr size_t kFirst = 2, kScales = 8, kZeros = 13, kSegments = 2, kCount = 5;
  std::array<ValueId, kCount> tables;
  for (size_t i = 0; i < kCount; ++i) {
    tables[i] = kNoValue;
    if (i == kSegments && (!node.has(kFirst + i) || !node.has(kSegmentIds))) continue;
    if (!node.has(kFirst + i) || !node.has(kScales + i))
      return invalid_argument("an embedding, scale or bias, or its quantisation scale, is missing");
    MILLRACE_ASSIGN_OR_RETURN(
        const auto numbers,
        node.emit_fallback(
            {"DequantizeLinear", {}},
            {node.operand(kFirst + i), node.operand(kScales + i), node.operand(kZeros + i)}, 1));
    tables[i] = numbers[0];
  }
  return embed(node, {tables[0], tables[1], tables[2], tables[3], tables[4]}, kNoValue);
}

}  // namespace millrace::lowering
