// Handlers of the Reduce operators, Softmax, LogSoftmax and BatchNormalization.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lowering/evaluate/constant_data.h"
#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::Dims;
using graph::ReduceKind;
using graph::UnaryKind;

// Returns the axes of a Reduce operator. They are an operand from opset 13 (ReduceSum) or opset 18
// (the others) on, and an attribute before.
Result<Dims> reduced_axes(NodeImport& node) {
  const int since = node.type() == "ReduceSum" ? 13 : 18;
  Dims axes;
  if (node.opset() < since) {
    axes = node.ints_attribute("axes").value_or(Dims());
  } else if (node.has(1)) {
    MILLRACE_ASSIGN_OR_RETURN(axes, node.constant_ints(1));
  }
  const size_t rank = node.shape(0).size();
  const bool keep_all =
      axes.empty() && node.opset() >= since && node.int_attribute("noop_with_empty_axes", 0) != 0;
  if (axes.empty() && !keep_all) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  return normalise_axes(axes, rank);
}

Result<ValueId> reduce_value(NodeImport& node, ReduceKind kind, ValueId x) {
  MILLRACE_ASSIGN_OR_RETURN(Dims axes, reduced_axes(node));
  return node.reduce(kind, x, std::move(axes), node.int_attribute("keepdims", 1) != 0);
}

// Softmax before opset 13 works on a matrix, in which all dimensions from `axis` on form a row. If
// at most one of these dimensions is not 1, that is the same as Softmax along this dimension.
Result<ValueId> softmax_of_rows(NodeImport& node, size_t axis, bool log) {
  const Dims& shape = node.shape(0);
  const auto is_wide = [](int64_t dim) { return dim != 1; };
  const auto first = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  if (std::count_if(first, shape.end(), is_wide) <= 1) {
    auto wide = std::find_if(first, shape.end(), is_wide);
    if (wide == shape.end()) wide = first;
    return node.emit(graph::Softmax{wide - shape.begin(), log}, {node.operand(0)});
  }
  const Dims restored = shape;
  const int64_t rows = *checked_product(std::span(shape).first(axis));
  const int64_t columns = *checked_product(std::span(shape).subspan(axis));
  MILLRACE_ASSIGN_OR_RETURN(ValueId x, node.reshape(node.operand(0), {rows, columns}));
  MILLRACE_ASSIGN_OR_RETURN(x, node.emit(graph::Softmax{1, log}, {x}));
  return node.reshape(x, restored);
}

Result<ValueId> softmax(NodeImport& node, bool log) {
  const bool by_rows = node.opset() < 13;
  MILLRACE_ASSIGN_OR_RETURN(
      const size_t axis,
      normalise_axis(node.int_attribute("axis", by_rows ? 1 : -1), node.shape(0).size()));
  if (by_rows) return softmax_of_rows(node, axis, log);
  return node.emit(graph::Softmax{static_cast<int64_t>(axis), log}, {node.operand(0)});
}

}  // namespace

template <ReduceKind kKind>
Result<ValueId> import_reduce(NodeImport& node) {
  return reduce_value(node, kKind, node.operand(0));
}
template Result<ValueId> import_reduce<ReduceKind::kSum>(NodeImport& node);
template Result<ValueId> import_reduce<ReduceKind::kMean>(NodeImport& node);
template Result<ValueId> import_reduce<ReduceKind::kMax>(NodeImport& node);
template Result<ValueId> import_reduce<ReduceKind::kMin>(NodeImport& node);
template Result<ValueId> import_reduce<ReduceKind::kProd>(NodeImport& node);

Result<ValueId> import_reduce_l1(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId x, node.unary(UnaryKind::kAbs, node.operand(0)));
  return reduce_value(node, ReduceKind::kSum, x);
}

Result<ValueId> import_reduce_sum_square(NodeImport& node) {
  const ValueId x = node.operand(0);
  MILLRACE_ASSIGN_OR_RETURN(const ValueId square, node.binary(graph::BinaryKind::kMul, x, x));
  return reduce_value(node, ReduceKind::kSum, square);
}

Result<ValueId> import_reduce_l2(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId sum, import_reduce_sum_square(node));
  return node.unary(UnaryKind::kSqrt, sum);
}

Result<ValueId> import_reduce_log_sum(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId sum, import_reduce<ReduceKind::kSum>(node));
  return node.unary(UnaryKind::kLog, sum);
}

Result<ValueId> import_softmax(NodeImport& node) {
  return softmax(node, false);
}
Result<ValueId> import_log_softmax(NodeImport& node) {
  return softmax(node, true);
}

Result<ValueId> import_batch_normalization(NodeImport& node) {
  if (node.int_attribute("training_mode", 0) != 0) return unsupported("training_mode is set");
  if (node.opset() < 9 && node.int_attribute("spatial", 1) == 0) {
    return unsupported("spatial is 0");
  }
  return node.emit(graph::BatchNormalization{node.float_attribute("epsilon", 1e-5f)},
                   node.operands());
}

}  // namespace millrace::lowering
