// Handlers of operators of com.microsoft that operators of the standard have replaced (ExpandDims,
// GatherND, GridSample, Trilu, GroupNorm), or that these can express (CDist,
// ConvTransposeWithDynamicPads, MatMulInteger16, UnfoldTensor).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lowering/operators/bounded_constant.h"
#include "lowering/operators/handlers.h"
#include "lowering/operators/quantised/channels_last.h"

namespace millrace::lowering {

using graph::BinaryKind;
using graph::Dims;
using graph::UnaryKind;

// GatherND, GridSample and Trilu have the names, attributes and defaults of the standard.
Result<ValueId> import_as_standard(NodeImport& node) {
  graph::Fallback op{node.type(), {}};
  if (node.has_attribute("align_corners"))
    op.attributes.push_back({"align_corners", node.int_attribute("align_corners", 0)});
  for (const char* name : {"mode", "padding_mode"})
    if (node.has_attribute(name)) op.attributes.push_back({name, node.string_attribute(name, "")});
  if (node.has_attribute("upper"))
    op.attributes.push_back({"upper", node.int_attribute("upper", 1)});
  MILLRACE_ASSIGN_OR_RETURN(const auto y, node.emit_fallback(std::move(op), node.operands(), 1));
  return y[0];
}

// The third operand of ConvTransposeWithDynamicPads states the pads of ConvTranspose, the fourth
// the bias.
Result<ValueId> import_conv_transpose_with_dynamic_pads(NodeImport& node) {
  constexpr size_t kPads = 2, kBias = 3;
  graph::Fallback op = plain_conv(node, "ConvTranspose");
  if (node.has(kPads)) {
    MILLRACE_ASSIGN_OR_RETURN(Dims pads, node.constant_ints(kPads));
    op.attributes.push_back({"pads", std::move(pads)});
    std::ranges::sort(op.attributes, {}, &graph::Attribute::name);
  }
  MILLRACE_ASSIGN_OR_RETURN(
      const auto y, node.emit_fallback(std::move(op),
                                       {node.operand(0), node.operand(1), node.operand(kBias)}, 1));
  return y[0];
}

// ExpandDims: the Unsqueeze of one axis, which an operand states.
Result<ValueId> import_expand_dims(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Dims axes, node.constant_ints(1));
  Dims shape = node.shape(0);
  if (axes.size() != 1) return invalid_argument("its axis must be one integer");
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis, normalise_axis(axes[0], shape.size() + 1));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return node.reshape(node.operand(0), std::move(shape));
}

// CDist: the distance of each row of one matrix from each row of another.
Result<ValueId> import_distances(NodeImport& node) {
  const Dims a = node.shape(0), b = node.shape(1);
  const std::string metric = node.string_attribute("metric", "sqeuclidean");
  if (metric != "euclidean" && metric != "sqeuclidean")
    return unsupported(
        fmt::format("metric '{}' is not supported; euclidean and sqeuclidean are", metric));
  if (a.size() != 2 || b.size() != 2 || a[1] != b[1])
    return invalid_argument("its operands must be two matrices with the same number of columns");
  MILLRACE_ASSIGN_OR_RETURN(const ValueId left, node.reshape(node.operand(0), {a[0], 1, a[1]}));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId right, node.reshape(node.operand(1), {1, b[0], b[1]}));
  MILLRACE_ASSIGN_OR_RETURN(ValueId y, node.binary(BinaryKind::kSub, left, right));
  MILLRACE_ASSIGN_OR_RETURN(y, node.binary(BinaryKind::kMul, y, y));
  MILLRACE_ASSIGN_OR_RETURN(y, node.reduce(graph::ReduceKind::kSum, y, {2}, false));
  return metric == "euclidean" ? node.unary(UnaryKind::kSqrt, y) : Result<ValueId>(y);
}

// MatMulInteger16: the product of INT16 matrices, whose sums are INT32 and wrap around.
Result<ValueId> import_matmul_integer16(NodeImport& node) {
  std::vector<ValueId> operands;
  for (const size_t index : {0, 1}) {
    if (node.value(index).type != tensor::DataType::kInt16)
      return invalid_argument("its operands must be INT16");
    MILLRACE_ASSIGN_OR_RETURN(
        operands.emplace_back(),
        node.emit(graph::Cast{tensor::DataType::kInt32}, {node.operand(index)}));
  }
  MILLRACE_ASSIGN_OR_RETURN(const auto y, node.emit_fallback({"MatMul", {}}, operands, 1));
  return y[0];
}

// UnfoldTensor: the windows of `size` elements along a dimension, `step` apart, as a new last
// dimension.
Result<ValueId> import_unfold_tensor(NodeImport& node) {
  const Dims shape = node.shape(0);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            normalise_axis(node.int_attribute("dim", -1), shape.size()));
  const int64_t size = node.int_attribute("size", 0), step = node.int_attribute("step", 1);
  if (size < 1 || size > shape[axis] || step < 1)
    return invalid_argument(
        fmt::format("windows of {} elements, {} apart, are not within a dimension of {}", size,
                    step, shape[axis]));
  const Dims table = {(shape[axis] - size) / step + 1, size};
  MILLRACE_ASSIGN_OR_RETURN(
      const ValueId indices,
      add_table<int64_t>(node, table, "a table of windows",
                         [step](int64_t row, int64_t column) { return row * step + column; }));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, node.emit(graph::Gather{static_cast<int64_t>(axis)},
                                                       {node.operand(0), indices}));
  if (axis + 1 == shape.size()) return y;
  Dims permutation(shape.size() + 1);
  std::iota(permutation.begin(), permutation.end(), 0);
  const auto windows = permutation.begin() + static_cast<std::ptrdiff_t>(axis) + 1;
  std::rotate(windows, windows + 1, permutation.end());
  return node.emit(graph::Transpose{std::move(permutation)}, {y});
}

// GroupNorm is channels-last (NHWC) by default. If its attribute activation is not 0, it applies
// Swish, x * sigmoid(x), to the result.
Result<ValueId> import_group_norm(NodeImport& node) {
  const int64_t groups = node.int_attribute("groups", 0);
  const float epsilon = node.float_attribute("epsilon", 1e-5f);
  const bool channels_last = node.int_attribute("channels_last", 1) != 0;
  ValueId x = node.operand(0);
  if (channels_last) {
    MILLRACE_ASSIGN_OR_RETURN(x, channels_to_front(node, x));
  }
  MILLRACE_ASSIGN_OR_RETURN(
      const auto results,
      node.emit_fallback({"GroupNormalization", {{"epsilon", epsilon}, {"num_groups", groups}}},
                         {x, node.operand(1), node.operand(2)}, 1));
  ValueId y = results[0];
  if (node.int_attribute("activation", 0) != 0) {
    MILLRACE_ASSIGN_OR_RETURN(const ValueId gate, node.unary(UnaryKind::kSigmoid, y));
    MILLRACE_ASSIGN_OR_RETURN(y, node.binary(BinaryKind::kMul, y, gate));
  }
  return channels_last ? channels_to_back(node, y) : Result<ValueId>(y);
}

}  // namespace millrace::lowering
