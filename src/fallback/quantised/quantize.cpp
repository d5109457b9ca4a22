// Quantisation (QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear) and products of quantised
// matrices (MatMulInteger, QLinearMatMul, millrace.MatMulIntegerToFloat). Scales and zero points
// are per tensor, per axis or per block. Products sum (a - a_zero) * (b - b_zero) in INT32, which
// wraps around.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "fallback/axis.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "fallback/matrix_product.h"
#include "fallback/narrow_types.h"
#include "fallback/quantised/dynamic_range.h"
#include "tensor/element.h"

namespace millrace::fallback {
namespace {

constexpr TypeSet kQuantised = {DataType::kInt8, DataType::kUint8, DataType::kInt16,
                                DataType::kUint16, DataType::kInt32};

// Checks that a scale or zero point has one element (per tensor), or one for each index of the axis
// (per axis).
Status check_parameter(const NodeView& node, size_t index, size_t axis) {
  if (!node.has(index)) return {};
  const TensorView &parameter = node.in(index), &x = node.in(0);
  const bool one = parameter.elements() == 1 && parameter.rank() <= 1;
  const bool per_index =
      parameter.rank() == 1 && axis < x.rank() && parameter.dims[0] == x.dims[axis];
  if (one || per_index) return {};
  return invalid_argument(fmt::format(
      "input {} is {}: neither one element nor one per index of "
      "axis {} of {}",
      index, graph::to_string(to_dims(parameter.dims)), axis, graph::to_string(to_dims(x.dims))));
}

// Checks a scale or zero point with a block_size: it has the shape of the input with the axis
// divided into blocks.
Status check_blocks(const NodeView& node, size_t index, size_t axis, int64_t block) {
  if (!node.has(index)) return {};
  Dims wanted = to_dims(node.in(0).dims);
  if (block < 0 || wanted.empty())
    return invalid_argument("block_size must not be negative, and its input must not have rank 0");
  wanted[axis] = wanted[axis] / block + (wanted[axis] % block != 0 ? 1 : 0);
  if (to_dims(node.in(index).dims) == wanted) return {};
  return invalid_argument(fmt::format(
      "input {} is {}, not {}, of which each element is for a block "
      "of {}",
      index, graph::to_string(to_dims(node.in(index).dims)), graph::to_string(wanted), block));
}

// Returns the axis of scale and zero point; 0 for operands of rank 0, which have none.
Result<size_t> parameter_axis(const NodeView& node) {
  if (node.in(0).rank() == 0) return size_t{0};
  const int64_t axis = node.integer("axis", 1);
  // The default of 1 is outside of a vector, for which a single scale needs no axis.
  if (axis == 1 && node.in(0).rank() == 1) return size_t{0};
  return graph::normalise_axis(axis, node.in(0).rank());
}

Status check_parameters(const NodeView& node) {
  if (node.in(1).type != DataType::kFloat32) return invalid_argument("the scale must be FLOAT32");
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis, parameter_axis(node));
  const int64_t block = node.integer("block_size");
  for (const size_t index : {size_t{1}, size_t{2}})
    MILLRACE_RETURN_IF_ERROR(block == 0 ? check_parameter(node, index, axis)
                                        : check_blocks(node, index, axis, block));
  return {};
}

// Calls visit(index of the element, index of its scale and zero point) for all elements.
template <class Visit>
void for_each_with_parameter(const Call& call, Visit&& visit) {
  const AxisSplit split(call.in(0).dims, *parameter_axis(call));
  const auto block = static_cast<size_t>(call.integer("block_size"));
  const size_t blocks = block == 0 ? 0 : (split.size + block - 1) / block;
  size_t position = 0;
  for (size_t outer = 0; outer < split.outer; ++outer)
    for (size_t i = 0; i < split.size; ++i)
      for (size_t inner = 0; inner < split.inner; ++inner)
        visit(position++, block == 0 ? i : (outer * blocks + i / block) * split.inner + inner);
}

template <class T>
T quantise(float value, float scale, T zero_point) {
  return tensor::quantise<T>(value, {scale, static_cast<int32_t>(zero_point), false});
}

// Returns the narrow type to which a QuantizeLinear quantises; null if it is another type.
const NarrowType* narrow_output(const NodeView& node) {
  return narrow_type(node.integer("output_dtype"));
}

Result<DataType> type_of_output(const NodeView& node) {
  if (const NarrowType* narrow = narrow_output(node)) {
    if (narrow->number != kFloat8E8M0) return narrow->held;
    return unsupported("quantising to FLOAT8E8M0 is not supported");
  }
  const int64_t number = node.integer("output_dtype");
  MILLRACE_ASSIGN_OR_RETURN(
      const DataType type,
      number != 0 ? type_of_number(number)
                  : Result<DataType>(node.has(2) ? node.in(2).type : DataType::kUint8));
  if (kQuantised.contains(type)) return type;
  return unsupported(fmt::format("quantising to {} is not supported", tensor::to_string(type)));
}

// Checks an attribute that states a floating-point type: the graph computes all of them in FLOAT32.
Status check_floating(const NodeView& node, const char* attribute) {
  const int64_t number = node.integer(attribute);
  if (number == 0) return {};
  MILLRACE_ASSIGN_OR_RETURN(const DataType type, type_of_number(number));
  if (type == DataType::kFloat32) return {};
  return unsupported(
      fmt::format("{} is {}, which is not supported", attribute, tensor::to_string(type)));
}

Status shape_of_quantize(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_parameters(node));
  MILLRACE_RETURN_IF_ERROR(check_floating(node, "precision"));
  MILLRACE_ASSIGN_OR_RETURN(const DataType type, type_of_output(node));
  if (node.has(2) && node.in(2).type != type)
    return invalid_argument("output_dtype differs from the type of the zero point");
  node.set(0, type, to_dims(node.in(0).dims));
  return {};
}

// Returns the limits at which the result saturates: those of a narrow type, or the range of T.
template <class T>
std::pair<T, T> limits_of(const Call& call) {
  if (const NarrowType* narrow = narrow_output(call))
    return {static_cast<T>(narrow->lowest_integer()), static_cast<T>(narrow->greatest_integer())};
  return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
}

// Quantises to a narrow floating-point type.
Status quantize_to_floats(const Call& call) {
  const NarrowType& type = *narrow_output(call);
  const bool saturate = call.integer("saturate", 1) != 0;
  const auto x = call.in(0).as<float>();
  const auto y = call.out(0).as<float>();
  for_each_with_parameter(call, [&](size_t position, size_t index) {
    const float quotient = x[position] / parameter_at<float>(call, 1, index);
    y[position] = nearest(type, quotient + parameter_at<float>(call, 2, index), saturate);
  });
  return {};
}

Status quantize_linear(const Call& call) {
  if (call.out(0).type == DataType::kFloat32) return quantize_to_floats(call);
  const auto x = call.in(0).as<float>();
  return visit_integer(call.out(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    if constexpr (sizeof(T) <= 4) {
      const auto y = call.out(0).as<T>();
      const auto [least, greatest] = limits_of<T>(call);
      for_each_with_parameter(
          call, [&, low = least, high = greatest](size_t position, size_t index) {
            y[position] = std::clamp(quantise(x[position], parameter_at<float>(call, 1, index),
                                              parameter_at<T>(call, 2, index)),
                                     low, high);
          });
    }
    return {};
  });
}

Status shape_of_dequantize(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_parameters(node));
  MILLRACE_RETURN_IF_ERROR(check_floating(node, "output_dtype"));
  if (node.has(2) && node.in(2).type != node.in(0).type)
    return invalid_argument("the zero point and the input differ in type");
  node.set(0, node.in(1).type, to_dims(node.in(0).dims));
  return {};
}

Status dequantize_linear(const Call& call) {
  const auto y = call.out(0).as<float>();
  if (call.in(0).type == DataType::kFloat32) {
    const auto x = call.in(0).as<float>();
    for_each_with_parameter(call, [&](size_t position, size_t index) {
      y[position] =
          (x[position] - parameter_at<float>(call, 2, index)) * parameter_at<float>(call, 1, index);
    });
    return {};
  }
  return visit_integer(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto x = call.in(0).as<T>();
    for_each_with_parameter(call, [&](size_t position, size_t index) {
      const auto distance =
          static_cast<int64_t>(x[position]) - static_cast<int64_t>(parameter_at<T>(call, 2, index));
      y[position] = static_cast<float>(distance) * parameter_at<float>(call, 1, index);
    });
    return {};
  });
}

Status shape_of_dynamic_quantize(Inference& node) {
  node.set(0, DataType::kUint8, to_dims(node.in(0).dims));
  node.set(1, DataType::kFloat32, {});
  node.set(2, DataType::kUint8, {});
  return {};
}

// Maps the range of the elements and 0 to 0 to 255.
Status dynamic_quantize(const Call& call) {
  const auto x = call.in(0).as<float>();
  DynamicRange range;
  range.include(x);
  const tensor::ElementRule rule = range.rule();
  const auto y = call.out(0).as<uint8_t>();
  for (size_t i = 0; i < y.size(); ++i) y[i] = tensor::quantise<uint8_t>(x[i], rule);
  call.out(1).as<float>()[0] = rule.scale;
  call.out(2).as<uint8_t>()[0] = static_cast<uint8_t>(rule.zero_point);
  return {};
}

// Checks a zero point: it has one element, or one per row of the left operand, or one per column of
// the right one.
Status check_zero_point(const NodeView& node, size_t index, size_t factor, size_t each) {
  if (!node.has(index)) return {};
  if (node.in(index).type != node.in(factor).type)
    return invalid_argument("a zero point and its operand differ in type");
  const size_t count = node.in(index).elements();
  if (count == 1 || count == each) return {};
  return unsupported("a zero point must have one element, or one per row of a or column of b");
}

// Computes sums += factor * (b - zero point) for a row of b. Differences of bytes have 9 bits, and
// compilers vectorise products of 16-bit integers.
template <class B>
void add_row(int16_t factor, const B* b, std::span<const int16_t> b_zeros,
             std::span<int32_t> sums) {
  for (size_t column = 0; column < sums.size(); ++column) {
    const auto distance = static_cast<int16_t>(b[column] - b_zeros[column]);
    const int32_t term = int32_t{factor} * distance;
    sums[column] = reference::Add{}(sums[column], term);
  }
}

// Multiplies matrices of bytes, and calls store(index of the element, sum of (a - zero point) * (b
// - zero point)).
template <class A, class B, class Store>
void multiply(const Call& call, const Product& product, std::array<size_t, 2> factors,
              std::array<size_t, 2> zero_points, Store&& store) {
  const TensorView &a = call.in(factors[0]), &b = call.in(factors[1]);
  const size_t matrices = element_count(product.batch);
  const size_t a_size = product.rows * product.depth, b_size = product.depth * product.columns;
  std::vector<int32_t> sums(product.columns);
  std::vector<int16_t> b_zeros(product.columns);
  for (size_t column = 0; column < product.columns; ++column)
    b_zeros[column] = parameter_at<B>(call, zero_points[1], column);
  for (size_t matrix = 0; matrix < matrices; ++matrix) {
    const A* left = a.as<A>().data() + matrix_index(a, product.batch, matrix) * a_size;
    const B* right = b.as<B>().data() + matrix_index(b, product.batch, matrix) * b_size;
    for (size_t row = 0; row < product.rows; ++row) {
      const A a_zero = parameter_at<A>(call, zero_points[0], row);
      std::ranges::fill(sums, 0);
      for (size_t k = 0; k < product.depth; ++k) {
        const auto factor = static_cast<int16_t>(left[row * product.depth + k] - a_zero);
        if (factor != 0) add_row(factor, right + k * product.columns, b_zeros, sums);
      }
      for (size_t column = 0; column < product.columns; ++column)
        store((matrix * product.rows + row) * product.columns + column, sums[column]);
    }
  }
}

Status shape_of_matmul_integer(Inference& node) {
  if (!kBytes.contains(node.in(1).type))
    return invalid_argument("both operands must be INT8 or UINT8");
  MILLRACE_ASSIGN_OR_RETURN(const Product product, product_of(node.in(0), node.in(1)));
  MILLRACE_RETURN_IF_ERROR(check_zero_point(node, 2, 0, product.rows));
  MILLRACE_RETURN_IF_ERROR(check_zero_point(node, 3, 1, product.columns));
  node.set(0, DataType::kInt32, result_dims(product));
  return {};
}

Status matmul_integer(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Product product, product_of(call.in(0), call.in(1)));
  const auto y = call.out(0).as<int32_t>();
  return visit_bytes(call.in(0).type, call.in(1).type, [&](auto a, auto b) -> Status {
    multiply<decltype(a), decltype(b)>(call, product, {0, 1}, {2, 3},
                                       [&](size_t i, int32_t sum) { y[i] = sum; });
    return {};
  });
}

// Inputs of MatMulIntegerToFloat: the sums become FLOAT32, times a scale, plus a bias. Scale and
// bias have one element, or one per column.
constexpr size_t kSumScale = 4, kSumBias = 5;

Status check_per_column(const NodeView& node, size_t index, size_t columns) {
  const TensorView& parameter = node.in(index);
  const size_t count = parameter.elements();
  if (parameter.type == DataType::kFloat32 && (count == 1 || count == columns)) return {};
  return invalid_argument(fmt::format("input {} must be one FLOAT32, or one per column", index));
}

Status shape_of_matmul_integer_to_float(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(shape_of_matmul_integer(node));
  MILLRACE_ASSIGN_OR_RETURN(const Product product, product_of(node.in(0), node.in(1)));
  if (!node.has(kSumScale)) return invalid_argument("the scale is missing");
  MILLRACE_RETURN_IF_ERROR(check_per_column(node, kSumScale, product.columns));
  if (node.has(kSumBias))
    MILLRACE_RETURN_IF_ERROR(check_per_column(node, kSumBias, product.columns));
  node.set(0, DataType::kFloat32, result_dims(product));
  return {};
}

Status matmul_integer_to_float(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Product product, product_of(call.in(0), call.in(1)));
  const auto y = call.out(0).as<float>();
  return visit_bytes(call.in(0).type, call.in(1).type, [&](auto a, auto b) -> Status {
    multiply<decltype(a), decltype(b)>(call, product, {0, 1}, {2, 3}, [&](size_t i, int32_t sum) {
      const size_t column = i % product.columns;
      y[i] = static_cast<float>(sum) * parameter_at<float>(call, kSumScale, column);
      if (call.has(kSumBias)) y[i] += parameter_at<float>(call, kSumBias, column);
    });
    return {};
  });
}

constexpr size_t kA = 0, kAScale = 1, kAZero = 2, kB = 3, kBScale = 4, kBZero = 5, kYScale = 6,
                 kYZero = 7;

Status shape_of_qlinear_matmul(Inference& node) {
  if (!kBytes.contains(node.in(kB).type) || !kBytes.contains(node.in(kYZero).type))
    return invalid_argument("operands and result must be INT8 or UINT8");
  MILLRACE_ASSIGN_OR_RETURN(const Product product, product_of(node.in(kA), node.in(kB)));
  MILLRACE_RETURN_IF_ERROR(check_zero_point(node, kAZero, kA, product.rows));
  MILLRACE_RETURN_IF_ERROR(check_zero_point(node, kBZero, kB, product.columns));
  const auto fits = [&](size_t index, size_t each) {
    const TensorView& scale = node.in(index);
    return scale.type == DataType::kFloat32 && (scale.elements() == 1 || scale.elements() == each);
  };
  if (!fits(kAScale, product.rows) || !fits(kBScale, product.columns) || !fits(kYScale, 1))
    return unsupported(
        "a scale must be FLOAT32, with one element or one per row of a or column of b");
  if (node.in(kYZero).elements() != 1)
    return unsupported("the zero point of the result must have one element");
  node.set(0, node.in(kYZero).type, result_dims(product));
  return {};
}

template <class A, class B, class Y>
void qlinear_matmul_of(const Call& call, const Product& product) {
  const float y_scale = call.in(kYScale).as<float>()[0];
  const Y zero = call.in(kYZero).as<Y>()[0];
  const auto y = call.out(0).as<Y>();
  multiply<A, B>(call, product, {kA, kB}, {kAZero, kBZero}, [&](size_t i, int32_t sum) {
    const size_t row = i / product.columns % product.rows, column = i % product.columns;
    const float scale =
        parameter_at<float>(call, kAScale, row) * parameter_at<float>(call, kBScale, column);
    y[i] = quantise(static_cast<float>(sum) * scale, y_scale, zero);
  });
}

Status qlinear_matmul(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Product product, product_of(call.in(kA), call.in(kB)));
  return visit_bytes(call.in(kA).type, call.in(kB).type, [&](auto a, auto b) -> Status {
    if (call.out(0).type == DataType::kInt8)
      qlinear_matmul_of<decltype(a), decltype(b), int8_t>(call, product);
    else
      qlinear_matmul_of<decltype(a), decltype(b), uint8_t>(call, product);
    return {};
  });
}

constexpr AttributeSpec kQuantize[] = {{"axis", AttributeKind::kInteger},
                                       {"block_size", AttributeKind::kInteger},
                                       {"output_dtype", AttributeKind::kInteger},
                                       {"precision", AttributeKind::kInteger},
                                       {"saturate", AttributeKind::kInteger}};
constexpr AttributeSpec kDequantize[] = {{"axis", AttributeKind::kInteger},
                                         {"block_size", AttributeKind::kInteger},
                                         {"output_dtype", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> quantize_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"DequantizeLinear",
       10,
       {2, 3},
       {},
       kQuantised | kFloats,  // narrow floating-point types are held as FLOAT32
       shape_of_dequantize,
       dequantize_linear,
       kDequantize},
      {"DynamicQuantizeLinear",
       11,
       {},
       {3, 3},
       kFloats,
       shape_of_dynamic_quantize,
       dynamic_quantize},
      {"MatMulInteger", 10, {2, 4}, {}, kBytes, shape_of_matmul_integer, matmul_integer},
      {"QLinearMatMul", 10, {8, 8}, {}, kBytes, shape_of_qlinear_matmul, qlinear_matmul},
      {"QuantizeLinear", 10, {2, 3}, {}, kFloats, shape_of_quantize, quantize_linear, kQuantize},
      {"millrace.MatMulIntegerToFloat",
       1,
       {2, 6},
       {},
       kBytes,
       shape_of_matmul_integer_to_float,
       matmul_integer_to_float},
  };
  return kOperators;
}

}  // namespace millrace::fallback
