#include "lowering/operators/microsoft/heads.h"

#include <fmt/format.h>

#include "lowering/operators/bounded_constant.h"

namespace millrace::lowering {

using graph::Dims;
using graph::UnaryKind;
using tensor::DataType;

namespace {

// Reshapes [batch, heads, rows, columns] to `groups` heads, which have the rows of several heads.
Result<ValueId> stack_groups(NodeImport& node, ValueId x, int64_t groups) {
  const Dims shape = shape_of(node, x);
  if (groups < 1 || shape[1] % groups != 0)
    return invalid_argument(
        fmt::format("{} query heads cannot share {} key heads", shape[1], groups));
  return node.reshape(x, {shape[0], groups, shape[1] / groups * shape[2], shape[3]});
}

}  // namespace

const Dims& shape_of(NodeImport& node, ValueId value) {
  return node.builder().value(value).shape;
}

Result<ValueId> part_of(NodeImport& node, ValueId x, size_t axis, int64_t begin, int64_t size) {
  const Dims& shape = shape_of(node, x);
  graph::Slice slice{Dims(shape.size(), 0), shape, Dims(shape.size(), 1)};
  slice.begin[axis] = begin;
  slice.size[axis] = size;
  return node.emit(std::move(slice), {x});
}

Result<ValueId> split_heads(NodeImport& node, ValueId x, int64_t heads) {
  const Dims shape = shape_of(node, x);
  if (shape.size() != 3 || shape[2] % heads != 0)
    return invalid_argument(
        fmt::format("{} must be [batch, length, size], with a size that is a multiple of {} heads",
                    graph::to_string(shape), heads));
  MILLRACE_ASSIGN_OR_RETURN(x, node.reshape(x, {shape[0], shape[1], heads, shape[2] / heads}));
  return node.emit(graph::Transpose{{0, 2, 1, 3}}, {x});
}

Result<ValueId> join_heads(NodeImport& node, ValueId x) {
  MILLRACE_ASSIGN_OR_RETURN(x, node.emit(graph::Transpose{{0, 2, 1, 3}}, {x}));
  const Dims shape = shape_of(node, x);
  return node.reshape(x, {shape[0], shape[1], shape[2] * shape[3]});
}

Result<ValueId> grouped_scores(NodeImport& node, ValueId query, ValueId key, float scale) {
  const Dims queries = shape_of(node, query), keys = shape_of(node, key);
  MILLRACE_ASSIGN_OR_RETURN(query, stack_groups(node, query, keys[1]));
  graph::MatMul product;
  product.transpose_b = true;
  product.alpha = scale;
  MILLRACE_ASSIGN_OR_RETURN(const ValueId scores, node.emit(product, {query, key}));
  return node.reshape(scores, {queries[0], queries[1], queries[2], keys[2]});
}

Result<ValueId> grouped_sums(NodeImport& node, ValueId weights, ValueId value) {
  const Dims scores = shape_of(node, weights), values = shape_of(node, value);
  MILLRACE_ASSIGN_OR_RETURN(weights, stack_groups(node, weights, values[1]));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId sums, node.emit(graph::MatMul{}, {weights, value}));
  return node.reshape(sums, {scores[0], scores[1], scores[2], values[3]});
}

Result<ValueId> soft_capped(NodeImport& node, ValueId scores, float cap) {
  if (!(cap > 0)) return scores;
  MILLRACE_ASSIGN_OR_RETURN(scores, node.unary(UnaryKind::kLinear, scores, 1 / cap));
  MILLRACE_ASSIGN_OR_RETURN(scores, node.unary(UnaryKind::kTanh, scores));
  return node.unary(UnaryKind::kLinear, scores, cap);
}

Result<ValueId> compared(NodeImport& node, const char* comparison, ValueId a, ValueId b) {
  MILLRACE_ASSIGN_OR_RETURN(const auto result, node.emit_fallback({comparison, {}}, {a, b}, 1));
  return node.emit(graph::Cast{DataType::kFloat32}, {result[0]});
}

Result<ValueId> scalar_constant(NodeImport& node, float value) {
  return node.add_computed(
      graph::Value{{}, DataType::kFloat32, {}, graph::Constant::of(std::vector<float>{value})});
}

Result<ValueId> causal_window_mask(NodeImport& node, int64_t queries, int64_t past, int64_t keys,
                                   int64_t window, float hidden) {
  return add_table<float>(node, {queries, keys}, "a mask", [=](int64_t query, int64_t key) {
    const int64_t distance = past + query - key;
    const bool is_seen = distance >= 0 && (window < 0 || distance < window);
    return is_seen ? 0 : hidden;
  });
}

Result<ValueId> cached_attention(NodeImport& node, const Heads& heads, ValueId lengths,
                                 ValueId sinks, float scale, const Sight& sight) {
  graph::Fallback op{"millrace.CachedAttention",
                     {{"causal", int64_t{sight.is_causal}}, {"scale", scale}}};
  if (sight.window >= 0) op.attributes.push_back({"window", sight.window});
  std::vector<ValueId> operands = {heads.query, heads.key, heads.value, lengths};
  if (sinks != kNoValue) operands.push_back(sinks);
  MILLRACE_ASSIGN_OR_RETURN(const auto result,
                            node.emit_fallback(std::move(op), std::move(operands), 1));
  return result[0];
}

Result<ValueId> append_to_past(NodeImport& node, ValueId past, ValueId x) {
  return node.emit(graph::Concat{2}, {past, x});
}

Result<Cache> write_to_buffer(NodeImport& node, ValueId past, int64_t used, ValueId x) {
  if (past == kNoValue) return Cache{x, x};
  const int64_t capacity = shape_of(node, past)[2], end = used + shape_of(node, x)[2];
  if (used > 0) {
    ValueId before = past;
    if (used < capacity) {
      MILLRACE_ASSIGN_OR_RETURN(before, part_of(node, past, 2, 0, used));
    }
    MILLRACE_ASSIGN_OR_RETURN(x, append_to_past(node, before, x));
  }
  if (end >= capacity) return Cache{x, x};
  MILLRACE_ASSIGN_OR_RETURN(const ValueId rest, part_of(node, past, 2, end, capacity - end));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId whole, append_to_past(node, x, rest));
  return Cache{x, whole};
}

}  // namespace millrace::lowering
