// Conv on integers. oneDNN's convolution adds up products of bytes, scales the sums to the scale of
// the result, adds the residual operand and applies the activation before it rounds. An Add that
// follows can be a part of it, too, and adds to the rounded result. The device's own loops (vnni,
// amx) take the place of oneDNN's where they are faster, with the same results.
//
// A Conv may be left to a later Add or depthwise Conv, so it is found out first whether integers
// can be computed with and oneDNN has a primitive; the step is made afterwards.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "device/cpu/kernels/convolution/bands.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/quantised/amx/convolution.h"
#include "device/cpu/kernels/quantised/convolution/rank.h"
#include "device/cpu/kernels/quantised/convolution/residual_sum.h"
#include "device/cpu/kernels/quantised/image.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/post_ops.h"
#include "device/cpu/kernels/quantised/quantised.h"
#include "device/cpu/kernels/quantised/vnni/convolution.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

using graph::kNoValue;
using graph::ValueId;
using tensor::ElementRule;
using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;

class Lowering {
 public:
  // With `sum`, the result is that of the Add that follows the Conv.
  Lowering(Builder& builder, const Node& node, const graph::Conv& op,
           const std::optional<ResidualSum>& sum)
      : builder_(builder),
        op_(op),
        x_(node.input(0)),
        weight_(node.input(1)),
        bias_(node.input(2)),
        residual_(sum ? sum->residual : node.input(3)),
        slope_(node.input(4)),
        made_(node.outputs[0]),
        y_(sum ? sum->result : made_) {}

  // Whether integers can be computed with. Adds nothing, nor do the next ones.
  bool is_of_integers() { return find_parameters() && fits_sums(); }
  // Whether there is a kernel of oneDNN, besides.
  bool can_lower() { return is_of_integers() && make_primitive(); }

  // Adds the step of the first kernel that takes the convolution. Requirement: can_lower() was
  // true.
  Status lower() {
    for (const auto by_kernel : {&Lowering::lower_by_tiles, &Lowering::lower_by_dot_products,
                                 &Lowering::lower_by_primitive}) {
      MILLRACE_ASSIGN_OR_RETURN(const bool lowered, (this->*by_kernel)());
      if (lowered) return {};
    }
    return internal_error("no kernel takes a quantised convolution that has a primitive");
  }

  // Whether this and `next`, which alone reads the result, are faster as one step of the device's
  // own. Requirements: can_lower() of this and is_of_integers() of the other were true.
  bool is_separable_with(const Lowering& next) const {
    // Matrix instructions multiply several times as fast as the loops.
    return may_use_loops() && !has_tiles(primitive_) && residual_ == kNoValue &&
           next.residual_ == kNoValue && vnni::layer_of(as_vnni(), next.as_vnni());
  }

  // Requirements: is_separable_with(next), and is_of_integers() of both was true.
  Status lower_with(const Lowering& next) {
    const vnni::Convolution first = as_vnni(), second = next.as_vnni();
    const auto layer = vnni::layer_of(first, second);
    if (!layer) return internal_error("two convolutions cannot be one step any more");
    MILLRACE_ASSIGN_OR_RETURN(const Operand x,
                              builder_.stored_in(x_, channels_last_desc(first.x, first.x_type)));
    const Operand y =
        new_result(builder_, next.y_, channels_last_desc(second.y, next.result_.type));
    vnni::add_step(builder_, *layer, first, second, {x.buffer, y.buffer});
    return {};
  }

 private:
  // The kernels, in the order in which lower() tries them. Each returns false, with nothing added,
  // if the convolution is not for it.
  //
  // The loops by AMX.
  Result<bool> lower_by_tiles() {
    if (!may_use_loops() || !has_tiles(primitive_)) return false;
    const vnni::Convolution convolution = as_vnni();
    return lower_by(amx::layer_of(convolution, residual_rule()), convolution);
  }

  // The loops by dot products of bytes (VNNI). Tiles multiply several times as fast.
  Result<bool> lower_by_dot_products() {
    if (!may_use_loops() || has_tiles(primitive_)) return false;
    const vnni::Convolution convolution = as_vnni();
    return lower_by(vnni::layer_of(convolution, residual_rule()), convolution);
  }

  // The primitive of oneDNN, which takes all convolutions.
  Result<bool> lower_by_primitive() {
    MILLRACE_ASSIGN_OR_RETURN(const Operand x, source());
    const Operand weights = pack_weights();
    std::vector<Argument> arguments = {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weights}};
    if (has_bias())
      arguments.push_back(
          {DNNL_ARG_BIAS,
           builder_.add_constant(primitive_.bias_desc(), attributes_->bias(bias_in_sums()))});
    add_constants(builder_, *attributes_, arguments);
    MILLRACE_ASSIGN_OR_RETURN(const Operand y, make_result());
    arguments.push_back({DNNL_ARG_DST, y});
    add_convolution(builder_, op_, {.whole = primitive_, .unbounded = {}}, std::move(arguments));
    return true;
  }

  // The convolution for the device's own loops, whose results equal the primitive's bit for bit.
  vnni::Convolution as_vnni() const {
    const auto channels = static_cast<size_t>(builder_.dims(weight_)[0]);
    std::vector<float> scales = factors();
    if (scales.size() == 1) scales.assign(channels, scales[0]);
    return {.op = &op_,
            .x = builder_.dims(x_),
            .weight = builder_.dims(weight_),
            .y = builder_.dims(y_),
            .x_type = builder_.stored_type(x_),
            .x_zero_point = bias_takes_zero_point_ ? 0 : x_rule_.zero_point,
            .weights = &*weights_,
            .biases = bias_in_sums(),
            .factors = std::move(scales),
            .result = made_rule_};
  }

  // The operand that is added to the result in the device's own loops, if there is one.
  std::optional<vnni::ResidualRule> residual_rule() const {
    if (residual_ == kNoValue) return std::nullopt;
    return vnni::ResidualRule{builder_.stored_type(residual_), residual_rule_, result_};
  }

  // `layer`: of vnni, or of amx, if there is one for the convolution.
  template <class Layer>
  Result<bool> lower_by(const std::optional<Layer>& layer, const vnni::Convolution& convolution) {
    if (!layer) return false;
    const Desc from = channels_last_desc(convolution.x, convolution.x_type);
    const Desc to = channels_last_desc(convolution.y, result_.type);
    MILLRACE_ASSIGN_OR_RETURN(const Operand x, builder_.stored_in(x_, from));
    std::optional<BufferId> residual;
    std::optional<Operand> y;
    if (residual_ != kNoValue) {
      MILLRACE_ASSIGN_OR_RETURN(const Operand other, residual_in(to));
      residual = other.buffer;
      if (may_take_memory_of(other)) y = take_memory_of(other, to);
    }
    if (!y) y = new_result(builder_, y_, to);
    add_step(builder_, *layer, convolution, {x.buffer, y->buffer, residual});
    return true;
  }

  // Returns false if the operands are not such as integers can be computed with.
  bool find_parameters() {
    const auto x = rule_of(builder_, x_);
    const auto made = result_of(builder_, made_), result = result_of(builder_, y_);
    if (!x || !made || !result || slope_ != kNoValue) return false;
    if (bias_ != kNoValue && !builder_.is_constant(bias_)) return false;
    if (residual_ != kNoValue) {
      const auto residual = rule_of(builder_, residual_);
      if (!residual || !builder_.is_quantised(y_)) return false;
      residual_rule_ = *residual;
    }
    weights_ = weights_of(builder_, weight_, 0);
    x_rule_ = *x;
    made_rule_ = *made;
    result_ = *result;
    bias_takes_zero_point_ = weights_ && can_take_zero_point();
    return weights_.has_value();
  }

  // Whether what the primitive computes with can hold the sums, and what it makes of them.
  bool fits_sums() const {
    const float scale = scale_before(op_.activation, made_rule_);
    return sums_fit(filter_size()) && can_scale(sum_scales(), scale, bias_in_sums()) &&
           std::isfinite(residual_rule_.scale / scale_of_sum()) &&
           (!rounds_before_sum() || std::isnormal(made_rule_.rule.scale / result_.rule.scale));
  }

  // Returns the number of products that an output element is the sum of.
  int64_t filter_size() const {
    return static_cast<int64_t>(weights_->elements.size()) / builder_.dims(weight_)[0];
  }

  // [M, C / group, kernel...], with the groups split off where there are any.
  Dims weight_dims() const {
    Dims dims = builder_.dims(weight_);
    if (op_.group == 1) return dims;
    dims[0] /= op_.group;
    dims.insert(dims.begin(), op_.group);
    return dims;
  }

  bool reads_pixels() const { return op_.group == 1 && is_image_of_pixels(builder_.dims(x_)); }

  // The operand, in the layout of the primitive.
  Result<Operand> source() {
    if (!reads_pixels()) return builder_.stored_in(x_, primitive_.src_desc());
    const Desc pixels = pixels_desc(builder_.dims(x_), builder_.stored_type(x_));
    MILLRACE_ASSIGN_OR_RETURN(const Operand x, builder_.stored_in(x_, pixels));
    return Operand{x.buffer, primitive_.src_desc()};
  }

  Operand pack_weights() {
    const Desc wanted = primitive_.weights_desc();
    if (!reads_pixels())
      return builder_.add_constant(weights_->elements.data(),
                                   plain_desc(weight_dims(), ElementType::s8), wanted);
    // Zeros for the channels that the image does not have: their bytes may be anything.
    const Dims dims = builder_.dims(weight_);
    const int64_t taps = dims[2] * dims[3], filter = dims[1] * taps;
    const Dims padded = pixel_dims(dims);
    std::vector<int8_t> elements(static_cast<size_t>(dims[0] * kPixelChannels * taps));
    for (int64_t i = 0; i < dims[0]; ++i)
      std::copy_n(weights_->elements.begin() + i * filter, filter,
                  elements.begin() + i * kPixelChannels * taps);
    return builder_.add_constant(elements.data(), plain_desc(padded, ElementType::s8), wanted);
  }

  // Scale of the sums of products for an output channel.
  double sum_scale(size_t channel) const {
    return double{x_rule_.scale} * double{weights_->scale(channel)};
  }

  // Returns one scale, or one per output channel.
  std::vector<float> sum_scales() const {
    std::vector<float> scales = weights_->scales;
    for (float& scale : scales) scale *= x_rule_.scale;
    return scales;
  }

  // Without padding, what the zero point of x adds to a sum is the same everywhere: then it is
  // taken from the bias, which costs nothing, while the primitive would take it from each sum. It
  // does so with integers, though; with sums that FP32 rounds, what is left of them would be wrong.
  bool can_take_zero_point() const {
    const auto is_zero = [](int64_t pad) { return pad == 0; };
    return x_rule_.zero_point != 0 && std::ranges::all_of(op_.pads_begin, is_zero) &&
           std::ranges::all_of(op_.pads_end, is_zero) &&
           largest_sum(weights_->elements, static_cast<size_t>(filter_size())) <= kLargestExactSum;
  }

  bool has_bias() const { return bias_ != kNoValue || bias_takes_zero_point_; }

  // The bias in the scale of the sums of products.
  std::vector<float> bias_in_sums() const {
    const auto channels = static_cast<size_t>(builder_.dims(weight_)[0]);
    std::vector<float> bias(channels, 0);
    if (bias_ != kNoValue) bias = builder_.constant_floats(bias_);
    // This is computed in FLOAT64: oneDNN adds the entries as they are here, and they are large.
    for (size_t i = 0; i < channels; ++i)
      bias[i] = static_cast<float>(whole_if_near(bias[i] / sum_scale(i)) - zero_point_in_sums(i));
    return bias;
  }

  // A bias of integers that count sums, as quantised models have it, consists of integers again,
  // although it was multiplied by its scale and divided by the product of two others: FP32 has
  // rounded the bias and its scale, each by 2^-24 of it at most. Larger ones, whose fraction is
  // within that, were no more exact before.
  static double whole_if_near(double bias) {
    constexpr double kRounding = 0x1p-22;
    const double whole = std::nearbyint(bias);
    return std::abs(bias - whole) <= std::abs(bias) * kRounding ? whole : bias;
  }

  // The part of an output channel's sums that the zero point of x adds, if the bias subtracts it.
  double zero_point_in_sums(size_t channel) const {
    if (!bias_takes_zero_point_) return 0;
    const auto weights = weights_->elements.begin() + static_cast<int64_t>(channel) * filter_size();
    const int64_t sum = std::accumulate(weights, weights + filter_size(), int64_t{0});
    return static_cast<double>(sum * x_rule_.zero_point);
  }

  bool rounds_before_sum() const { return made_ != y_; }

  // True if the device's own loops may be used, which round before they add another operand.
  bool may_use_loops() const {
    return (residual_ == kNoValue || rounds_before_sum()) && !reads_pixels();
  }

  // The scale with which another operand is added.
  float scale_of_sum() const {
    return rounds_before_sum() ? result_.rule.scale : scale_before(op_.activation, result_);
  }

  dnnl::post_ops post_ops() const {
    dnnl::post_ops post_ops;
    if (rounds_before_sum()) {
      append_activation(post_ops, op_.activation, made_rule_);
      append_storing(post_ops, made_rule_, result_.rule.scale);
    }
    if (residual_ != kNoValue)
      post_ops.append_sum(residual_rule_.scale / scale_of_sum(), residual_rule_.zero_point,
                          builder_.stored_type(residual_));
    if (!rounds_before_sum()) append_activation(post_ops, op_.activation, result_);
    append_rounding(post_ops, result_);
    return post_ops;
  }

  // Factors from sums of products to multiples of the scale of the activation's operand: one, or
  // one per channel.
  std::vector<float> factors() const {
    const double scale = scale_before(op_.activation, made_rule_);
    std::vector<float> factors = weights_->scales;
    for (size_t i = 0; i < factors.size(); ++i)
      factors[i] = static_cast<float>(sum_scale(i) / scale);
    return factors;
  }

  IntegerAttributes attributes_for_sums() const {
    IntegerAttributes attributes(make_attributes(), factors(), op_.group != 1);
    attributes.set_post_ops(post_ops());
    if (!bias_takes_zero_point_) attributes.set_zero_point(DNNL_ARG_SRC, x_rule_.zero_point);
    attributes.set_zero_point(DNNL_ARG_DST, result_.rule.zero_point);
    return attributes;
  }

  bool make_primitive() {
    if (!can_append(op_.activation)) return false;
    const Desc bias =
        has_bias() ? plain_desc({builder_.dims(weight_)[0]}, ElementType::f32) : Desc();
    Dims x_dims = builder_.dims(x_), weights_dims = weight_dims();
    if (reads_pixels()) {
      x_dims = pixel_dims(x_dims);
      weights_dims = pixel_dims(weights_dims);
    }
    attributes_ = attributes_for_sums();
    const auto outputs = static_cast<int64_t>(builder_.value(y_).elements());
    const ConvolutionWork work{filter_size(), filter_size() * outputs};
    primitive_ = find_convolution(builder_.engine(), attributes_->get(),
                                  {channels_last_desc(x_dims, builder_.stored_type(x_)),
                                   any_desc(weights_dims, ElementType::s8), bias,
                                   channels_last_desc(builder_.dims(y_), result_.type), op_.strides,
                                   op_.dilations, op_.pads_begin, op_.pads_end},
                                  rank_for(work));
    return is_fast(primitive_);
  }

  // Returns the residual in the layout of the result.
  Result<Operand> residual_in(const Desc& result) {
    return builder_.stored_in(residual_, with_type(result, builder_.stored_type(residual_)));
  }

  bool may_take_memory_of(const Operand& residual) const {
    return residual_ != x_ && builder_.may_overwrite(residual_, residual);
  }
  Operand take_memory_of(const Operand& residual, const Desc& result) {
    const Operand y{residual.buffer, result};
    builder_.set_stored_result(y_, y);
    return y;
  }

  // The memory of the result: with a residual, that of the residual, to which the primitive adds.
  Result<Operand> make_result() {
    const Desc desc = primitive_.dst_desc();
    if (residual_ == kNoValue) return new_result(builder_, y_, desc);
    MILLRACE_ASSIGN_OR_RETURN(const Operand residual, residual_in(desc));
    if (may_take_memory_of(residual)) return take_memory_of(residual, desc);
    const Operand y = builder_.new_stored_result(y_, desc);
    builder_.add_reorder(y_, residual, {y.buffer, residual.desc});
    return y;
  }

  Builder& builder_;
  const graph::Conv& op_;
  // made_ is the result of the Conv; y_ is that, or its sum with the residual.
  const ValueId x_, weight_, bias_, residual_, slope_, made_, y_;
  ElementRule x_rule_, residual_rule_;
  ResultRule made_rule_, result_;
  std::optional<Weights> weights_;
  bool bias_takes_zero_point_ = false;
  std::optional<IntegerAttributes> attributes_;
  PrimitiveDesc primitive_;
};

// Returns the later Conv that alone reads the result of the one that is being lowered, if one step
// of both is faster.
std::optional<uint32_t> separable_partner(Builder& builder, const Node& node,
                                          const Lowering& lowering) {
  const ValueId made = node.outputs[0];
  if (builder.is_output(made) || builder.readers(made).size() != 1) return std::nullopt;
  const uint32_t index = builder.readers(made)[0];
  const Node& next = builder.model().graph.nodes[index];
  const auto* const op = std::get_if<graph::Conv>(&next.op);
  if (op == nullptr || next.input(0) != made || !builder.comes_later(index) ||
      residual_sum_of(builder, next))
    return std::nullopt;
  Lowering second(builder, next, *op, std::nullopt);
  if (!second.is_of_integers() || !lowering.is_separable_with(second)) return std::nullopt;
  return index;
}

// Requirement: separable_partner() of the first has returned the second.
Status lower_with_postponed(Builder& builder, const Node& first, const Node& second) {
  Lowering pointwise(builder, first, std::get<graph::Conv>(first.op), std::nullopt);
  Lowering depthwise(builder, second, std::get<graph::Conv>(second.op), std::nullopt);
  if (!pointwise.is_of_integers() || !depthwise.is_of_integers())
    return internal_error("two convolutions cannot be one step any more");
  return pointwise.lower_with(depthwise);
}

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Conv& op) {
  if (const Node* const first = builder.postponed_maker(node.input(0))) {
    MILLRACE_RETURN_IF_ERROR(lower_with_postponed(builder, *first, node));
    return true;
  }
  const auto sum = residual_sum_of(builder, node);
  if (sum && Lowering(builder, node, op, sum).can_lower()) {
    // Its other operand may not be there yet.
    builder.postpone(sum->node);
    return true;
  }
  Lowering lowering(builder, node, op, std::nullopt);
  if (!lowering.can_lower()) return false;
  if (const auto partner = separable_partner(builder, node, lowering))
    builder.postpone(*partner);
  else
    MILLRACE_RETURN_IF_ERROR(lowering.lower());
  return true;
}

Result<bool> lower_postponed_conv(Builder& builder, const Node& add) {
  for (const size_t slot : {0, 1}) {
    const Node* const conv = builder.postponed_maker(add.inputs[slot]);
    if (conv == nullptr) continue;
    Lowering lowering(builder, *conv, std::get<graph::Conv>(conv->op),
                      ResidualSum{0, add.inputs[1 - slot], add.outputs[0]});
    if (!lowering.can_lower()) return internal_error("a convolution cannot be added to any more");
    MILLRACE_RETURN_IF_ERROR(lowering.lower());
    return true;
  }
  return false;
}

}  // namespace millrace::device::cpu::kernels::quantised
