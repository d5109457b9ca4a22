// Shape functions of convolution, pooling and matrix products: Conv, Pool, GlobalPool, MatMul,
// BatchNormalization. Spatial dimensions follow out = floor((in + pads - ((kernel - 1) * dilation +
// 1)) / stride) + 1. Pooling also refuses windows that see no element.
#include <algorithm>

#include "graph/shape/check.h"

namespace millrace::graph {
namespace {

constexpr size_t kSpatialBegin = 2;  // the first spatial dimension of [N, C, spatial...]

Status check_image(const Value& x) {
  MILLRACE_RETURN_IF_ERROR(check_numeric("x", x));
  if (x.shape.size() >= 3 && x.shape.size() <= 5) return {};
  return invalid_argument(
      fmt::format("x is {}, expected [N, C] and 1 to 3 spatial dimensions", to_string(x.shape)));
}

// Refuses empty images: the mean and the maximum of no elements are undefined.
Status check_something_to_pool(const Value& x) {
  if (std::ranges::find(x.shape.begin() + kSpatialBegin, x.shape.end(), 0) == x.shape.end())
    return {};
  return invalid_argument(
      fmt::format("x is {}: a pooling window needs elements", to_string(x.shape)));
}

Status check_conv_attributes(const Conv& op, const Dims& weight) {
  const size_t spatial = weight.size() - kSpatialBegin;
  MILLRACE_RETURN_IF_ERROR(check_attribute("strides", op.strides, spatial, 1, kMaxAttribute));
  MILLRACE_RETURN_IF_ERROR(check_attribute("dilations", op.dilations, spatial, 1, kMaxAttribute));
  MILLRACE_RETURN_IF_ERROR(check_attribute("pads_begin", op.pads_begin, spatial, 0, kMaxAttribute));
  MILLRACE_RETURN_IF_ERROR(check_attribute("pads_end", op.pads_end, spatial, 0, kMaxAttribute));
  for (size_t i = 0; i < spatial; ++i) {
    if (weight[kSpatialBegin + i] > kMaxAttribute) {
      return invalid_argument(fmt::format("weight {} is too large", to_string(weight)));
    }
  }
  return check_activation(op.activation);
}

Status check_conv_channels(const Conv& op, const Dims& x, const Dims& weight) {
  if (op.group < 1 || x[1] % op.group != 0 || weight[0] % op.group != 0) {
    return invalid_argument(fmt::format("{} groups do not divide x {} and weight {}", op.group,
                                        to_string(x), to_string(weight)));
  }
  if (weight[1] == x[1] / op.group) return {};
  return invalid_argument(fmt::format("weight {} does not fit x {} in {} groups", to_string(weight),
                                      to_string(x), op.group));
}

// Checks bias, residual and slope of a Conv with this output.
Status check_conv_operands(Operands inputs, const ValueType& output) {
  const Dims per_channel = {output.shape[1]};
  if (const Value* bias = operand(inputs, 2)) {
    MILLRACE_RETURN_IF_ERROR(check_floating("bias", *bias));
    MILLRACE_RETURN_IF_ERROR(check_shape_is("bias", *bias, per_channel));
  }
  if (const Value* residual = operand(inputs, 3)) {
    MILLRACE_RETURN_IF_ERROR(check_shape_is("residual", *residual, output.shape));
    if (residual->type != output.type) {
      return invalid_argument("residual and output differ in type");
    }
  }
  if (const Value* slope = operand(inputs, 4)) {
    MILLRACE_RETURN_IF_ERROR(check_floating("slope", *slope));
    MILLRACE_RETURN_IF_ERROR(check_shape_is("slope", *slope, per_channel));
  }
  return {};
}

Status check_pool_attributes(const Pool& op, size_t spatial) {
  if (op.kind != PoolKind::kMax && op.kind != PoolKind::kAverage) {
    return invalid_argument("unknown kind of pooling");
  }
  MILLRACE_RETURN_IF_ERROR(check_attribute("kernel", op.kernel, spatial, 1, kMaxAttribute));
  MILLRACE_RETURN_IF_ERROR(check_attribute("strides", op.strides, spatial, 1, kMaxAttribute));
  MILLRACE_RETURN_IF_ERROR(check_attribute("dilations", op.dilations, spatial, 1, kMaxAttribute));
  MILLRACE_RETURN_IF_ERROR(check_attribute("pads_begin", op.pads_begin, spatial, 0, kMaxAttribute));
  MILLRACE_RETURN_IF_ERROR(check_attribute("pads_end", op.pads_end, spatial, 0, kMaxAttribute));
  MILLRACE_RETURN_IF_ERROR(
      check_attribute("ceil_excess", op.ceil_excess, spatial, 0, kMaxAttribute));
  for (size_t i = 0; i < spatial; ++i) {
    if (op.ceil_excess[i] > op.pads_end[i]) {
      return invalid_argument("ceil_excess is larger than pads_end");
    }
  }
  return {};
}

// The padding that counts as zeros in an average, before and after the input.
struct CountedPadding {
  int64_t begin = 0, end = 0;
};

// Whether some window that begins in uncounted padding has all its taps there or beyond. Taps can
// skip the input only if the dilation is larger than the input.
bool taps_miss(const Window& window, int64_t positions, CountedPadding counted) {
  constexpr int64_t kMaxExamined = 4096;  // more positions are refused; no real model has them
  const int64_t visible = counted.begin + window.input + counted.end;
  if (window.dilation <= visible || counted.begin == window.pad_begin) return false;
  for (int64_t i = 0; i < positions; ++i) {
    const int64_t hidden = window.pad_begin - counted.begin - i * window.stride;
    if (hidden <= 0) return false;
    const int64_t taps_before = (hidden + window.dilation - 1) / window.dilation;
    const int64_t first_visible = taps_before * window.dilation - hidden;
    if (taps_before >= window.kernel || first_visible >= visible || i == kMaxExamined) return true;
  }
  return false;
}

// Returns the number of positions of a pooling window. Each of them must see at least one element
// or counted zero, since the mean and the maximum of no elements are undefined.
Result<int64_t> pool_positions(const Window& window, CountedPadding counted) {
  MILLRACE_ASSIGN_OR_RETURN(const int64_t positions, window_positions(window));
  const int64_t last_begin = (positions - 1) * window.stride - window.pad_begin;
  if (window.pad_begin >= window.extent() || last_begin >= window.input + counted.end ||
      taps_miss(window, positions, counted)) {
    return invalid_argument("a pooling window lies in the padding");
  }
  return positions;
}

// Operands of a product must have one type. Floating-point types may mix, since weights may be
// stored in a narrower type than the activations.
Status check_same_kind(const char* what, const Value& value, tensor::DataType type) {
  MILLRACE_RETURN_IF_ERROR(check_numeric(what, value));
  const bool floating = tensor::is_floating(value.type) && tensor::is_floating(type);
  if (floating || value.type == type) return {};
  return invalid_argument(fmt::format("a is {}, but {} is {}", tensor::to_string(type), what,
                                      tensor::to_string(value.type)));
}

Status check_reduction_dims(int64_t a, int64_t b) {
  if (a == b) return {};
  return invalid_argument(fmt::format("inner dimensions {} and {} differ", a, b));
}

// Returns the shape of an operand as a stack of matrices. Rank 1 becomes a row (a) or a column (b),
// as in numpy.
Dims as_matrix(const Dims& shape, bool transpose, bool column) {
  if (shape.size() == 1) return column ? Dims{shape[0], 1} : Dims{1, shape[0]};
  Dims matrix = shape;
  if (transpose) std::swap(matrix[matrix.size() - 1], matrix[matrix.size() - 2]);
  return matrix;
}

Result<Dims> product_shape(const MatMul& op, const Dims& a_shape, const Dims& b_shape) {
  if (a_shape.empty() || b_shape.empty()) return invalid_argument("an operand has rank 0");
  if (b_shape.size() == 1 && op.transpose_b) return invalid_argument("transpose_b needs rank 2");
  if (a_shape.size() == 1 && op.transpose_a) return invalid_argument("transpose_a needs rank 2");
  const Dims a = as_matrix(a_shape, op.transpose_a, false);
  const Dims b = as_matrix(b_shape, op.transpose_b, true);
  MILLRACE_RETURN_IF_ERROR(check_reduction_dims(a[a.size() - 1], b[b.size() - 2]));
  MILLRACE_ASSIGN_OR_RETURN(Dims shape,
                            broadcast(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2)));
  if (a_shape.size() > 1) shape.push_back(a[a.size() - 2]);
  if (b_shape.size() > 1) shape.push_back(b[b.size() - 1]);
  return shape;
}

}  // namespace

Result<ValueType> infer(const Conv& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 2, 5));
  const Value &x = *inputs[0], &weight = *inputs[1];
  MILLRACE_RETURN_IF_ERROR(check_image(x));
  MILLRACE_RETURN_IF_ERROR(check_floating("x", x));
  MILLRACE_RETURN_IF_ERROR(check_floating("weight", weight));
  if (weight.shape.size() != x.shape.size()) {
    return invalid_argument(fmt::format("x {} and weight {} differ in rank", to_string(x.shape),
                                        to_string(weight.shape)));
  }
  MILLRACE_RETURN_IF_ERROR(check_conv_attributes(op, weight.shape));
  MILLRACE_RETURN_IF_ERROR(check_conv_channels(op, x.shape, weight.shape));
  ValueType output{x.type, {x.shape[0], weight.shape[0]}};
  for (size_t i = 0; i < op.strides.size(); ++i) {
    const Window window{x.shape[kSpatialBegin + i],
                        weight.shape[kSpatialBegin + i],
                        op.strides[i],
                        op.dilations[i],
                        op.pads_begin[i],
                        op.pads_end[i]};
    MILLRACE_ASSIGN_OR_RETURN(const int64_t positions, window_positions(window));
    output.shape.push_back(positions);
  }
  MILLRACE_RETURN_IF_ERROR(check_conv_operands(inputs, output));
  return output;
}

Result<ValueType> infer(const Pool& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, 1));
  const Value& x = *inputs[0];
  MILLRACE_RETURN_IF_ERROR(check_image(x));
  MILLRACE_RETURN_IF_ERROR(check_something_to_pool(x));
  if (op.kind != PoolKind::kMax) MILLRACE_RETURN_IF_ERROR(check_floating("x", x));
  MILLRACE_RETURN_IF_ERROR(check_pool_attributes(op, x.shape.size() - kSpatialBegin));
  ValueType output{x.type, {x.shape[0], x.shape[1]}};
  for (size_t i = 0; i < op.kernel.size(); ++i) {
    const Window window{x.shape[kSpatialBegin + i], op.kernel[i],  op.strides[i], op.dilations[i],
                        op.pads_begin[i],           op.pads_end[i]};
    CountedPadding counted;
    if (op.count_include_pad) counted = {op.pads_begin[i], op.pads_end[i] - op.ceil_excess[i]};
    MILLRACE_ASSIGN_OR_RETURN(const int64_t positions, pool_positions(window, counted));
    output.shape.push_back(positions);
  }
  return output;
}

Result<ValueType> infer(const GlobalPool& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, 1));
  const Value& x = *inputs[0];
  MILLRACE_RETURN_IF_ERROR(check_image(x));
  MILLRACE_RETURN_IF_ERROR(check_something_to_pool(x));
  MILLRACE_RETURN_IF_ERROR(check_floating("x", x));
  if (op.kind != PoolKind::kMax && op.kind != PoolKind::kAverage) {
    return invalid_argument("unknown kind of pooling");
  }
  Dims shape(x.shape.size(), 1);
  std::copy_n(x.shape.begin(), kSpatialBegin, shape.begin());
  return ValueType{x.type, std::move(shape)};
}

Result<ValueType> infer(const MatMul& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 2, 3));
  MILLRACE_RETURN_IF_ERROR(check_activation(op.activation));
  const Value &a = *inputs[0], &b = *inputs[1];
  MILLRACE_RETURN_IF_ERROR(check_numeric("a", a));
  MILLRACE_RETURN_IF_ERROR(check_same_kind("b", b, a.type));
  MILLRACE_ASSIGN_OR_RETURN(Dims shape, product_shape(op, a.shape, b.shape));
  if (const Value* bias = operand(inputs, 2)) {
    MILLRACE_RETURN_IF_ERROR(check_same_kind("bias", *bias, a.type));
    MILLRACE_ASSIGN_OR_RETURN(const Dims with_bias, broadcast(shape, bias->shape));
    if (with_bias != shape) {
      return invalid_argument(fmt::format("bias {} does not broadcast to {}",
                                          to_string(bias->shape), to_string(shape)));
    }
  }
  return ValueType{a.type, std::move(shape)};
}

Result<ValueType> infer(const BatchNormalization&, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 5, 5));
  const Value& x = *inputs[0];
  MILLRACE_RETURN_IF_ERROR(check_floating("x", x));
  if (x.shape.size() < 2) {
    return invalid_argument(fmt::format("x is {}, expected [N, C, ...]", to_string(x.shape)));
  }
  constexpr const char* kNames[] = {"x", "scale", "bias", "mean", "variance"};
  for (size_t i = 1; i < inputs.size(); ++i) {
    MILLRACE_RETURN_IF_ERROR(check_floating(kNames[i], *inputs[i]));
    MILLRACE_RETURN_IF_ERROR(check_shape_is(kNames[i], *inputs[i], {x.shape[1]}));
  }
  return ValueType{x.type, x.shape};
}

}  // namespace millrace::graph
