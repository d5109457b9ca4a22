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
  MILLRACE_ASSIGN_OR_RETURN(
      MutableConstant constant,
      bounded_constant(node, DataType::kInt64, {1, rows, columns}, "a table of positions"));
  int64_t* to = constant.as<int64_t>().data();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) *to++ = element(row, column);
  return node.add_computed(std::move(constant.value));
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

// Returns whether 0 <= x < end, for each element of x.
Result<ValueId> is_in_range(NodeImport& node, ValueId x, int64_t end) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId zero, number(node, 0));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId limit, number(node, end));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId begun, combined(node, "GreaterOrEqual", x, zero));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId not_ended, combined(node, "Less", x, limit));
  return combined(node, "And", begun, not_ended);
}

}  // namespace

Result<ValueId> starts_before_tokens(NodeImport& node, ValueId lasts, int64_t batch,
                                     int64_t length) {
  MILLRACE_ASSIGN_OR_RETURN(lasts, node.reshape(lasts, {batch}));
  MILLRACE_ASSIGN_OR_RETURN(lasts, node.emit(graph::Cast{DataType::kInt64}, {lasts}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId others, number(node, length - 1));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId starts, combined(node, "Sub", lasts, others));
  return node.reshape(starts, {batch});
}

Result<ValueId> positions_from(NodeImport& node, ValueId starts, int64_t length) {
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId tokens,
      table_of(node, 1, length, [](int64_t, int64_t token) { return token; }));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId positions, plus_starts(node, tokens, starts));
  return node.reshape(positions, {shape_of(node, starts)[0], length});
}

// Gathers rows of `past` followed by `x`. Row `capacity` + i is that of new token i.
Result<ValueId> inserted(NodeImport& node, ValueId past, ValueId x, ValueId starts,
                         int64_t positions) {
  const Dims shape = shape_of(node, past);
  const int64_t capacity = shape[2], length = shape_of(node, x)[2];
  MILLRACE_ASSIGN_OR_RETURN(const ValueId own,
                            table_of(node, 1, positions, [](int64_t, int64_t at) { return at; }));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId old,
                            table_of(node, 1, positions, [capacity](int64_t, int64_t at) {
                              return std::min(at, capacity - 1);
                            }));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId column, node.reshape(starts, {shape[0], 1, 1}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId tokens, combined(node, "Sub", own, column));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId is_new, is_in_range(node, tokens, length));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId first_new, number(node, capacity));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId fresh, combined(node, "Add", tokens, first_new));
  MILLRACE_ASSIGN_OR_RETURN(const auto chosen,
                            node.emit_fallback({"Where", {}}, {is_new, fresh, old}, 1));
  MILLRACE_ASSIGN_OR_RETURN(ValueId rows, node.reshape(chosen[0], {shape[0], 1, positions, 1}));
  MILLRACE_ASSIGN_OR_RETURN(rows,
                            node.emit(graph::Expand{{shape[0], shape[1], positions, 1}}, {rows}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId both, append_to_past(node, past, x));
  MILLRACE_ASSIGN_OR_RETURN(
      const auto result,
      node.emit_fallback({"GatherND", {{"batch_dims", int64_t{2}}}}, {both, rows}, 1));
  return result[0];
}

Result<ValueId> penalty_of_ragged_keys(NodeImport& node, ValueId starts, int64_t queries,
                                       int64_t keys, int64_t window) {
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId differences,
      table_of(node, queries, keys, [](int64_t query, int64_t key) { return query - key; }));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId distances, plus_starts(node, differences, starts));
  MILLRACE_ASSIGN_OR_RETURN(
      ValueId seen,
      is_in_range(node, distances, window < 0 ? std::numeric_limits<int64_t>::max() : window));
  MILLRACE_ASSIGN_OR_RETURN(seen, node.emit(graph::Cast{DataType::kFloat32}, {seen}));
  MILLRACE_ASSIGN_OR_RETURN(seen,
                            node.reshape(seen, {shape_of(node, starts)[0], 1, queries, keys}));
  return node.unary(graph::UnaryKind::kLinear, seen, -kLowest, kLowest);
}

}  // namespace millrace::lowering
