// Conv on integers: the library's convolution, which sums up products of bytes, scales the sums to
// steps of the result, and adds the residual operand and applies the activation before it rounds.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/quantised/image.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/post_ops.h"
#include "device/cpu/kernels/quantised/quantised.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

using graph::kNoValue;
using graph::ValueId;
using tensor::ElementRule;
using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;

class Lowering {
 public:
  Lowering(Builder& builder, const Node& node, const graph::Conv& op)
      : builder_(builder),
        op_(op),
        x_(node.input(0)),
        weight_(node.input(1)),
        bias_(node.input(2)),
        residual_(node.input(3)),
        slope_(node.input(4)),
        y_(node.outputs[0]) {}

  Result<bool> lower() {
    if (!find_parameters() || !fits_sums() || !make_primitive()) return false;
    MILLRACE_ASSIGN_OR_RETURN(const Operand x, source());
    const Operand weights = pack_weights();
    std::vector<Argument> arguments = {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weights}};
    if (has_bias())
      arguments.push_back(
          {DNNL_ARG_BIAS, builder_.add_constant(primitive_.bias_desc(), bias_in_sums())});
    MILLRACE_ASSIGN_OR_RETURN(const Operand y, make_result());
    arguments.push_back({DNNL_ARG_DST, y});
    builder_.add_primitive("Conv", primitive_, dnnl::convolution_forward(primitive_),
                           std::move(arguments));
    return true;
  }

 private:
  // False where the operands are none that integers can be computed with.
  bool find_parameters() {
    const auto x = rule_of(builder_, x_);
    const auto result = result_of(builder_, y_);
    if (!x || !result || slope_ != kNoValue) return false;
    if (bias_ != kNoValue && !builder_.is_constant(bias_)) return false;
    if (residual_ != kNoValue) {
      const auto residual = rule_of(builder_, residual_);
      if (!residual || !builder_.is_quantised(y_)) return false;
      residual_rule_ = *residual;
    }
    weights_ = weights_of(builder_, weight_, 0);
    x_rule_ = *x;
    result_ = *result;
    return weights_.has_value();
  }

  // Whether what the primitive computes with can hold the sums, and what it makes of them.
  bool fits_sums() const {
    const float step = step_before(op_.activation, result_);
    return sums_fit(filter_size()) && can_scale(sum_scales(), step, bias_in_sums()) &&
           std::isfinite(residual_rule_.scale / step);
  }

  // How many products an output element is the sum of.
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
    // Zeros for the channels that the picture does not have, so that it does not matter what their
    // bytes are.
    const Dims dims = builder_.dims(weight_);
    const int64_t taps = dims[2] * dims[3], filter = dims[1] * taps;
    const Dims padded = pixel_dims(dims);
    std::vector<int8_t> elements(static_cast<size_t>(dims[0] * kPixelChannels * taps));
    for (int64_t i = 0; i < dims[0]; ++i)
      std::copy_n(weights_->elements.begin() + i * filter, filter,
                  elements.begin() + i * kPixelChannels * taps);
    return builder_.add_constant(elements.data(), plain_desc(padded, ElementType::s8), wanted);
  }

  // What the sums of products for an output channel count.
  float sum_scale(size_t channel) const { return x_rule_.scale * weights_->scale(channel); }

  // One, or one per output channel.
  std::vector<float> sum_scales() const {
    std::vector<float> scales = weights_->scales;
    for (float& scale : scales) scale *= x_rule_.scale;
    return scales;
  }

  // Without padding, what the zero point of x adds to a sum is the same everywhere: then it is
  // taken from the bias, which costs nothing, while the primitive would take it from each sum.
  bool bias_takes_zero_point() const {
    const auto is_zero = [](int64_t pad) { return pad == 0; };
    return x_rule_.zero_point != 0 && std::ranges::all_of(op_.pads_begin, is_zero) &&
           std::ranges::all_of(op_.pads_end, is_zero);
  }

  bool has_bias() const { return bias_ != kNoValue || bias_takes_zero_point(); }

  // As sums of products.
  std::vector<float> bias_in_sums() const {
    const auto channels = static_cast<size_t>(builder_.dims(weight_)[0]);
    std::vector<float> bias(channels, 0);
    if (bias_ != kNoValue) bias = builder_.constant_floats(bias_);
    for (size_t i = 0; i < channels; ++i) bias[i] /= sum_scale(i);
    if (!bias_takes_zero_point()) return bias;
    auto weights = weights_->elements.begin();
    for (float& entry : bias) {
      const int64_t sum = std::accumulate(weights, weights + filter_size(), int64_t{0});
      entry -= static_cast<float>(sum * x_rule_.zero_point);
      weights += filter_size();
    }
    return bias;
  }

  dnnl::primitive_attr attributes() const {
    dnnl::primitive_attr attributes = make_attributes();
    const float step = step_before(op_.activation, result_);
    std::vector<float> scales = sum_scales();
    for (float& scale : scales) scale /= step;
    constexpr int kPerChannel = 1 << 1;
    attributes.set_output_scales(scales.size() > 1 ? kPerChannel : 0, scales);
    dnnl::post_ops post_ops;
    if (residual_ != kNoValue)
      post_ops.append_sum(residual_rule_.scale / step, residual_rule_.zero_point,
                          builder_.stored_type(residual_));
    append_activation(post_ops, op_.activation, result_);
    attributes.set_post_ops(post_ops);
    if (x_rule_.zero_point != 0 && !bias_takes_zero_point())
      attributes.set_zero_points(DNNL_ARG_SRC, 0, {x_rule_.zero_point});
    if (result_.rule.zero_point != 0)
      attributes.set_zero_points(DNNL_ARG_DST, 0, {result_.rule.zero_point});
    return attributes;
  }

  bool make_primitive() {
    if (!can_append(op_.activation)) return false;
    const Desc bias =
        has_bias() ? plain_desc({builder_.dims(weight_)[0]}, ElementType::f32) : Desc();
    // The library counts the gap between the taps, ONNX the distance.
    Dims dilations = op_.dilations;
    for (int64_t& dilation : dilations) --dilation;
    Dims x_dims = builder_.dims(x_), weights_dims = weight_dims();
    if (reads_pixels()) {
      x_dims = pixel_dims(x_dims);
      weights_dims = pixel_dims(weights_dims);
    }
    const dnnl::convolution_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
        channels_last(x_dims, builder_.stored_type(x_)), any_desc(weights_dims, ElementType::s8),
        bias, channels_last(builder_.dims(y_), result_.type), op_.strides, dilations,
        op_.pads_begin, op_.pads_end);
    return is_fast(primitive_ = PrimitiveDesc(desc, attributes(), builder_.engine(),
                                              /*allow_empty=*/true));
  }

  // The memory of the result: with a residual, that of the residual, to which the primitive adds.
  Result<Operand> make_result() {
    const Desc desc = primitive_.dst_desc();
    if (residual_ == kNoValue) return new_result(builder_, y_, desc);
    const Desc added = with_type(desc, builder_.stored_type(residual_));
    MILLRACE_ASSIGN_OR_RETURN(const Operand residual, builder_.stored_in(residual_, added));
    if (builder_.may_overwrite(residual_, residual)) {
      builder_.set_stored_result(y_, {residual.buffer, desc});
      return Operand{residual.buffer, desc};
    }
    const Operand y = builder_.new_stored_result(y_, desc);
    builder_.add_reorder(y_, residual, {y.buffer, added});
    return y;
  }

  Builder& builder_;
  const graph::Conv& op_;
  const ValueId x_, weight_, bias_, residual_, slope_, y_;
  ElementRule x_rule_, residual_rule_;
  ResultRule result_;
  std::optional<Weights> weights_;
  PrimitiveDesc primitive_;
};

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Conv& op) {
  return Lowering(builder, node, op).lower();
}

}  // namespace millrace::device::cpu::kernels::quantised
