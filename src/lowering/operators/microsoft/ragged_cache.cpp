#include "lowering/operators/microsoft/ragged_cache.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lowering/operators/bounded_constant.h"
#include "lowering/operators/microsoft/heads.h"

namespace millrace::lowering {
namespace {

using graph::Dims;
using tensor::DataType;

// Emits a fallback operator of two operands, such as Add or Less.
Result<ValueId> combined(NodeImport& node, const char* type, ValueId a, ValueId b) {
  MILLRACE_ASSIGN_OR_RETURN(const auto result, node.emit_fallback({type, {}}, {a, b}, 1));
  return result[0];
}

// Returns a constant of INT64, whose elements are `element(row, column)`.
template <class Element>
Result<ValueId> table_of(NodeImport& node, int64_t rows, int64_t columns, Element&& element) {
  return add_table<int64_t>(node, {1, rows, columns}, "a table of positions", element);
}

Result<ValueId> number(NodeImport& node, int64_t value) {
  return table_of(node, 1, 1, [value](int64_t, int64_t) { return value; });
}

// Returns `table` + the start of each sequence, [batch, rows, columns].
Result<ValueId> plus_starts(NodeImport& node, ValueId table, ValueId starts) {
  const int64_t batch = shape_of(node, starts)[0];
  MILLRACE_ASSIGN_OR_RETURN(starts, node.reshape(starts, {batch, 1, 1}));
  return combined(node, "Add", table, starts);
}

// Returns the additive mask for BOOLEAN `seen`, reshaped: 0 or -infinity.
Result<ValueId> penalty_of_unseen(NodeImport& node, ValueId seen, Dims shape) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId none, scalar_constant(node, 0));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId infinite,
                            scalar_constant(node, -std::numeric_limits<float>::infinity()));
  MILLRACE_ASSIGN_OR_RETURN(const auto penalty,
                            node.emit_fallback({"Where", {}}, {seen, none, infinite}, 1));
  return node.reshape(penalty[0], std::move(shape));
}

}  // namespace

Result<ValueId> starts_before_tokens(NodeImport& node, ValueId lasts, int64_t batch, int64_t length,
                                     int64_t total) {
  MILLRACE_ASSIGN_OR_RETURN(lasts, node.reshape(lasts, {batch}));
  MILLRACE_ASSIGN_OR_RETURN(lasts, node.emit(graph::Cast{DataType::kInt64}, {lasts}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId others, number(node, length - 1));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId starts, combined(node, "Sub", lasts, others));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId greatest, number(node, total - length));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId fits, combined(node, "LessOrEqual", starts, greatest));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId beyond, number(node, -1));
  MILLRACE_ASSIGN_OR_RETURN(const auto checked,
                            node.emit_fallback({"Where", {}}, {fits, starts, beyond}, 1));
  return node.reshape(checked[0], {batch});
}

Result<ValueId> lengths_from(NodeImport& node, ValueId starts, int64_t length) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId added, number(node, length));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId lengths, plus_starts(node, added, starts));
  return node.reshape(lengths, {shape_of(node, starts)[0]});
}

Result<ValueId> positions_from(NodeImport& node, ValueId starts, int64_t length) {
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId tokens,
      table_of(node, 1, length, [](int64_t, int64_t token) { return token; }));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId positions, plus_starts(node, tokens, starts));
  return node.reshape(positions, {shape_of(node, starts)[0], length});
}

Result<ValueId> inserted(NodeImport& node, ValueId past, ValueId x, ValueId starts,
                         int64_t positions) {
  const Dims shape = shape_of(node, past);
  if (shape[2] < positions) {
    graph::Pad pad;
    pad.begin = pad.end = Dims(shape.size(), 0);
    pad.end[2] = positions - shape[2];
    MILLRACE_ASSIGN_OR_RETURN(past, node.emit(std::move(pad), {past}));
  }
  MILLRACE_ASSIGN_OR_RETURN(
      const auto result,
      node.emit_fallback({"TensorScatter", {{"axis", int64_t{2}}}}, {past, x, starts}, 1));
  return result[0];
}

Result<ValueId> cleared_after(NodeImport& node, ValueId x, ValueId starts, int64_t length) {
  const Dims shape = shape_of(node, x);
  MILLRACE_ASSIGN_OR_RETURN(starts, node.reshape(starts, {shape[0], 1, 1}));
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId offsets,
      table_of(node, 1, shape[2], [length](int64_t, int64_t at) { return at - length; }));
  MILLRACE_ASSIGN_OR_RETURN(ValueId used, combined(node, "Less", offsets, starts));
  MILLRACE_ASSIGN_OR_RETURN(used, node.reshape(used, {shape[0], 1, shape[2], 1}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId zero, scalar_constant(node, 0));
  MILLRACE_ASSIGN_OR_RETURN(const auto result,
                            node.emit_fallback({"Where", {}}, {used, x, zero}, 1));
  return result[0];
}

Result<ValueId> penalty_of_keys_after(NodeImport& node, ValueId lasts, int64_t batch,
                                      int64_t keys) {
  MILLRACE_ASSIGN_OR_RETURN(lasts, node.reshape(lasts, {batch, 1, 1}));
  MILLRACE_ASSIGN_OR_RETURN(lasts, node.emit(graph::Cast{DataType::kInt64}, {lasts}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId positions,
                            table_of(node, 1, keys, [](int64_t, int64_t key) { return key; }));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId seen, combined(node, "LessOrEqual", positions, lasts));
  return penalty_of_unseen(node, seen, {batch, 1, 1, keys});
}

// A key is seen if key - query <= start, and with a window if key - query + window > start.
Result<ValueId> penalty_of_ragged_keys(NodeImport& node, ValueId starts, int64_t queries,
                                       int64_t keys, int64_t window) {
  const Dims shape = {shape_of(node, starts)[0], 1, queries, keys};
  MILLRACE_ASSIGN_OR_RETURN(starts, node.reshape(starts, {shape[0], 1, 1}));
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId offsets,
      table_of(node, queries, keys, [](int64_t query, int64_t key) { return key - query; }));
  MILLRACE_ASSIGN_OR_RETURN(ValueId seen, combined(node, "LessOrEqual", offsets, starts));
  if (window >= 0) {
    window = std::min(window, keys);
    MILLRACE_ASSIGN_OR_RETURN(const ValueId ends,
                              table_of(node, queries, keys, [window](int64_t query, int64_t key) {
                                return key - query + window;
                              }));
    MILLRACE_ASSIGN_OR_RETURN(const ValueId is_near, combined(node, "Greater", ends, starts));
    MILLRACE_ASSIGN_OR_RETURN(seen, combined(node, "And", seen, is_near));
  }
  return penalty_of_unseen(node, seen, shape);
}

}  // namespace millrace::lowering
