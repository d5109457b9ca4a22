// MatMul on integers: inner products with constant weights, batched products of two values
// otherwise.
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "device/cpu/dnnl/product.h"
#include "device/cpu/kernels/elementwise/binary.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/post_ops.h"
#include "device/cpu/kernels/quantised/quantised.h"
#include "device/cpu/kernels/quantised/table.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

using graph::kNoValue;
using graph::ValueId;
using tensor::ElementRule;

class Lowering {
 public:
  Lowering(Builder& builder, const Node& node, const graph::MatMul& op)
      : builder_(builder),
        op_(op),
        a_(node.input(0)),
        b_(node.input(1)),
        bias_(node.input(2)),
        y_(node.outputs[0]),
        columns_(builder.dims(y_).back()) {}

  Result<bool> lower() {
    const auto a = rule_of(builder_, a_);
    const auto result = result_of(builder_, y_);
    if (!a || !result || !takes_bias() || !can_append(op_.activation)) return false;
    const Dims a_dims = builder_.dims(a_);
    if (!sums_fit(a_dims[op_.transpose_a ? a_dims.size() - 2 : a_dims.size() - 1])) return false;
    a_rule_ = *a;
    result_ = *result;
    const bool is_layer =
        builder_.is_constant(b_) && builder_.dims(b_).size() == 2 && !op_.transpose_a;
    return is_layer ? add_layer() : add_product();
  }

 private:
  // Whether the bias, if there is one, is an entry per column.
  bool takes_bias() const {
    if (bias_ == kNoValue) return true;
    const Dims dims = builder_.dims(bias_);
    return builder_.is_constant(bias_) && dims.back() == columns_ &&
           std::all_of(dims.begin(), dims.end() - 1, [](int64_t dim) { return dim == 1; });
  }

  // Returns the scales of the sums of products, times alpha. `scales` are those of b: one, or one
  // per column.
  std::vector<float> sum_scales(std::vector<float> scales) const {
    for (float& scale : scales) scale *= a_rule_.scale * op_.alpha;
    return scales;
  }

  // Zero points of the result are added by a post-op: not all primitives here take them.
  IntegerAttributes attributes_for(std::vector<float> sum_scales) const {
    const float scale = scale_before(op_.activation, result_);
    for (float& sum_scale : sum_scales) sum_scale /= scale;
    IntegerAttributes attributes(make_attributes(), std::move(sum_scales));
    dnnl::post_ops post_ops;
    append_activation(post_ops, op_.activation, result_);
    append_rounding(post_ops, result_);
    if (result_.rule.zero_point != 0)
      append_eltwise(post_ops, {dnnl::algorithm::eltwise_linear, 1,
                                static_cast<float>(result_.rule.zero_point)});
    attributes.set_post_ops(post_ops);
    return attributes;
  }

  // Returns the bias in the scale of the sums of products, one entry per column.
  std::vector<float> bias_in_sums(const std::vector<float>& sum_scales) const {
    if (bias_ == kNoValue) return std::vector<float>(static_cast<size_t>(columns_), 0);
    std::vector<float> bias = builder_.constant_floats(bias_);
    for (size_t i = 0; i < bias.size(); ++i) bias[i] /= sum_scales[sum_scales.size() > 1 ? i : 0];
    return bias;
  }

  // The inner product takes no zero point, so the bias subtracts the part that it adds to each
  // column. If sums are larger than kLargestExactSum, both are rounded, and the difference is wrong
  // by at most 2^-23 of the largest sum.
  void take_zero_point(const Weights& weights, std::vector<float>& bias) const {
    if (a_rule_.zero_point == 0) return;
    const size_t columns = bias.size(), rows = weights.elements.size() / columns;
    for (size_t column = 0; column < columns; ++column) {
      int64_t sum = 0;
      for (size_t row = 0; row < rows; ++row)
        sum += weights.elements[op_.transpose_b ? column * rows + row : row * columns + column];
      bias[column] -= static_cast<float>(sum * a_rule_.zero_point);
    }
  }

  // Adds the product of a [..., K] and a constant [K, N].
  Result<bool> add_layer() {
    const auto weights = weights_of(builder_, b_, op_.transpose_b ? 0 : 1);
    if (!weights) return false;
    const Dims a_dims = builder_.dims(a_);
    const int64_t m =
        std::accumulate(a_dims.begin(), a_dims.end() - 1, int64_t{1}, std::multiplies<>());
    const int64_t k = a_dims.back();
    const std::vector<float> scales = sum_scales(weights->scales);
    std::vector<float> bias = bias_in_sums(scales);
    if (!can_scale(scales, scale_before(op_.activation, result_), bias)) return false;
    take_zero_point(*weights, bias);
    const Desc x = plain_desc({m, k}, builder_.stored_type(a_));
    const Desc y = plain_desc({m, columns_}, result_.type);
    const IntegerAttributes attributes = attributes_for(scales);
    const auto primitive = find_primitive<dnnl::inner_product_forward>(
        builder_.engine(), attributes.get(), dnnl::prop_kind::forward_inference, x,
        any_desc({columns_, k}, ElementType::s8), plain_desc({columns_}, ElementType::f32), y);
    if (!is_fast(primitive)) return false;
    MILLRACE_ASSIGN_OR_RETURN(const Operand a,
                              builder_.stored_in(a_, builder_.plain_stored_form(a_)));
    const std::vector<uint32_t> order =
        op_.transpose_b ? std::vector<uint32_t>{0, 1} : std::vector<uint32_t>{1, 0};
    const Operand packed = builder_.add_constant(
        weights->elements.data(), ordered_desc({columns_, k}, ElementType::s8, order),
        primitive.weights_desc());
    const Operand to = new_result(builder_, y_, plain_desc(builder_.dims(y_), result_.type));
    std::vector<Argument> arguments = {
        {DNNL_ARG_SRC, {a.buffer, x}},
        {DNNL_ARG_WEIGHTS, packed},
        {DNNL_ARG_BIAS, builder_.add_constant(primitive.bias_desc(), attributes.bias(bias))},
        {DNNL_ARG_DST, {to.buffer, y}}};
    add_constants(builder_, attributes, arguments);
    builder_.add_primitive("MatMul", primitive, dnnl::inner_product_forward(primitive),
                           std::move(arguments));
    return true;
  }

  // The dimensions of an operand, with the rank of the product, and its plain layout.
  Desc factor(ValueId id, ElementType type, bool transpose, bool is_row, size_t rank) const {
    Dims dims = builder_.dims(id);
    if (builder_.value(id).shape.size() == 1) dims = is_row ? Dims{1, dims[0]} : Dims{dims[0], 1};
    Dims permutation(rank);
    std::iota(permutation.begin(), permutation.end(), 0);
    if (transpose) std::swap(permutation[rank - 1], permutation[rank - 2]);
    return permuted(plain_desc(with_rank(dims, rank), type), permutation);
  }

  // oneDNN needs INT8 on the right: UINT8 less 128, with a zero point less 128.
  Result<Operand> signed_right() {
    MILLRACE_ASSIGN_OR_RETURN(const Operand b,
                              builder_.stored_in(b_, builder_.plain_stored_form(b_)));
    if (b.desc.data_type() == ElementType::s8) return b;
    ByteTable table;
    for (size_t i = 0; i < table.size(); ++i)
      table[i] = static_cast<uint8_t>(static_cast<int>(i) - kShift);
    const Operand shifted = builder_.new_temporary(with_type(b.desc, ElementType::s8));
    add_table(builder_, "MatMul", table, b, shifted);
    return shifted;
  }

  Result<bool> add_product() {
    const auto b_rule = rule_of(builder_, b_);
    if (!b_rule) return false;
    const size_t rank = std::max({builder_.dims(a_).size(), builder_.dims(b_).size(), size_t{2}});
    const Desc left = factor(a_, builder_.stored_type(a_), op_.transpose_a, true, rank);
    const Desc right = factor(b_, ElementType::s8, op_.transpose_b, false, rank);
    const Dims left_dims = left.dims(), right_dims = right.dims();
    Dims dims(rank), bias_dims(rank, 1);
    for (size_t i = 0; i + 2 < rank; ++i) dims[i] = std::max(left_dims[i], right_dims[i]);
    dims[rank - 2] = left_dims[rank - 2];
    dims[rank - 1] = bias_dims[rank - 1] = right_dims[rank - 1];
    if (bias_ != kNoValue && dims[rank - 1] != columns_) return false;
    const std::vector<float> scales = sum_scales({b_rule->scale}), bias = bias_in_sums(scales);
    if (!can_scale(scales, scale_before(op_.activation, result_), bias)) return false;
    const bool is_unsigned = builder_.stored_type(b_) == ElementType::u8;
    IntegerAttributes attributes = attributes_for(scales);
    attributes.set_zero_point(DNNL_ARG_SRC, a_rule_.zero_point);
    attributes.set_zero_point(DNNL_ARG_WEIGHTS, b_rule->zero_point - (is_unsigned ? kShift : 0));
    const Desc bias_desc = bias_ == kNoValue ? Desc() : plain_desc(bias_dims, ElementType::f32);
    const Desc y = plain_desc(dims, result_.type);
    const auto primitive =
        find_product(builder_.engine(), attributes.get(), {left, right, bias_desc, y});
    if (!is_fast(primitive)) return false;
    MILLRACE_ASSIGN_OR_RETURN(const Operand a,
                              builder_.stored_in(a_, builder_.plain_stored_form(a_)));
    MILLRACE_ASSIGN_OR_RETURN(const Operand b, signed_right());
    std::vector<Argument> arguments = {{DNNL_ARG_SRC, {a.buffer, left}},
                                       {DNNL_ARG_WEIGHTS, {b.buffer, right}}};
    if (bias_ != kNoValue)
      arguments.push_back({DNNL_ARG_BIAS, builder_.add_constant(bias_desc, attributes.bias(bias))});
    add_constants(builder_, attributes, arguments);
    const Operand to = new_result(builder_, y_, plain_desc(builder_.dims(y_), result_.type));
    arguments.push_back({DNNL_ARG_DST, {to.buffer, y}});
    builder_.add_primitive("MatMul", primitive, dnnl::matmul(primitive), std::move(arguments));
    return true;
  }

  static constexpr int kShift = 128;

  Builder& builder_;
  const graph::MatMul& op_;
  const ValueId a_, b_, bias_, y_;
  const int64_t columns_;
  ElementRule a_rule_;
  ResultRule result_;
};

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::MatMul& op) {
  return Lowering(builder, node, op).lower();
}

}  // namespace millrace::device::cpu::kernels::quantised
