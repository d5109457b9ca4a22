// Conv, with its fused residual sum and activation.
#include <utility>
#include <vector>

#include "device/cpu/kernels/careful_step.h"
#include "device/cpu/kernels/convolution/bands.h"
#include "device/cpu/kernels/convolution/primitive.h"
#include "device/cpu/kernels/depthwise/depthwise.h"
#include "device/cpu/kernels/few_channels/few_channels.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/plane/plane.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/separable/pairs.h"
#include "device/cpu/kernels/separable/separable.h"
#include "device/cpu/kernels/winograd/winograd.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::kNoValue;
using graph::ValueId;
using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;

// One way to make the primitive.
struct Attempt {
  Form form;
  FusedFunctions fused;
};

class Lowering {
 public:
  Lowering(Builder& builder, const Node& node, const graph::Conv& op)
      : builder_(builder),
        op_(op),
        convolution_(builder.model().graph, node, op, builder.type()),
        x_(node.input(0)),
        weight_(node.input(1)),
        bias_(node.input(2)),
        residual_(node.input(3)),
        slope_(node.input(4)),
        y_(node.outputs[0]) {}

  Status lower() {
    const bool by_winograd = builder_.form() == Form::kWinograd && builder_.is_constant(weight_) &&
                             winograd::can_compute(convolution_);
    return by_winograd ? lower_winograd() : lower_primitive();
  }

 private:
  Status lower_primitive() {
    MILLRACE_RETURN_IF_ERROR(choose_primitive());
    MILLRACE_ASSIGN_OR_RETURN(const Operand x, builder_.in_layout(x_, primitive_.src_desc()));
    MILLRACE_ASSIGN_OR_RETURN(const Operand weights,
                              builder_.packed(weight_, primitive_.weights_desc()));
    std::vector<Argument> arguments = {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weights}};
    if (bias_ != kNoValue) {
      MILLRACE_ASSIGN_OR_RETURN(const Operand bias, builder_.packed(bias_, primitive_.bias_desc()));
      arguments.push_back({DNNL_ARG_BIAS, bias});
    }
    if (made_.prelu) {
      MILLRACE_ASSIGN_OR_RETURN(const Operand slope,
                                builder_.packed(slope_, slope_desc(convolution_)));
      arguments.push_back({prelu_argument(convolution_), slope});
    }
    MILLRACE_ASSIGN_OR_RETURN(const Operand y, make_result(primitive_.dst_desc()));
    arguments.push_back({DNNL_ARG_DST, y});
    add_convolution(builder_, op_, {primitive_, unbounded_, residual_ != kNoValue},
                    std::move(arguments));
    return finish(y);
  }

  Status lower_winograd() {
    winograd::Operands operands;
    operands.weight = weight_;
    operands.adds = residual_ != kNoValue;
    MILLRACE_ASSIGN_OR_RETURN(
        const Operand x,
        builder_.in_layout(x_, winograd::image_layout(convolution_.x, convolution_.type)));
    if (bias_ != kNoValue) {
      const Desc plain = plain_desc(convolution_.bias, ElementType::f32);
      MILLRACE_ASSIGN_OR_RETURN(const Operand bias, builder_.packed(bias_, plain));
      operands.bias = bias.buffer;
    }
    MILLRACE_ASSIGN_OR_RETURN(
        const Operand y, make_result(winograd::image_layout(convolution_.y, convolution_.type)));
    operands.x = x.buffer;
    operands.y = y.buffer;
    // An activation comes behind PRelu.
    const auto bounds = slope_ == kNoValue ? bounds_of(op_.activation) : std::nullopt;
    made_.activation = bounds.has_value();
    winograd::add_step(builder_, convolution_, operands,
                       bounds ? *bounds : *bounds_of(graph::Activation{}));
    return finish(y);
  }

  // The form of the plan, or the usual one in place of those of our own, then the others, and only
  // then steps of their own for functions.
  Status choose_primitive() {
    const FusedFunctions all{slope_ != kNoValue, can_fuse_activation(op_)};
    std::vector<Attempt> attempts;
    const Form form = is_own(builder_.form()) ? usual_form(builder_.type()) : builder_.form();
    for (const FusedFunctions& fused : {all, FusedFunctions{}})
      for (const Form each : {form, Form::kBlocked, Form::kLibrary})
        attempts.push_back({each, fused});
    const auto choice = choose(attempts, [&](const Attempt& attempt) { return make(attempt); });
    if (!choice) return unsupported("oneDNN has no convolution of this shape");
    primitive_ = choice->primitive;
    made_ = choice->option.fused;
    if (needs_unbounded(made_))
      unbounded_ = make_unbounded(convolution_, made_, primitive_, builder_.engine());
    return {};
  }

  bool needs_unbounded(const FusedFunctions& fused) const {
    return fused.activation && last_bounds(op_.activation).has_value();
  }

  // The result is empty where the primitive would lose NaNs and no other step could keep them.
  PrimitiveDesc make(const Attempt& attempt) const {
    PrimitiveDesc made =
        make_convolution(convolution_, attempt.form, attempt.fused, builder_.engine());
    if (made.get(true) == nullptr || !needs_unbounded(attempt.fused)) return made;
    if (residual_ != kNoValue && !builder_.may_run_again()) return {};
    if (!keeps_padding(made.dst_desc(), *last_bounds(op_.activation))) return {};
    const PrimitiveDesc unbounded =
        make_unbounded(convolution_, attempt.fused, made, builder_.engine());
    return unbounded.get(true) == nullptr ? PrimitiveDesc() : made;
  }

  // The memory of the result: with a residual, that of the residual, to which the step adds.
  Result<Operand> make_result(const Desc& desc) {
    if (residual_ == kNoValue) return builder_.new_result(y_, desc);
    MILLRACE_ASSIGN_OR_RETURN(const Operand residual, builder_.current(residual_));
    if (residual.desc == desc && builder_.may_overwrite(residual_, residual)) {
      builder_.set_result(y_, residual);
      return residual;
    }
    const Operand y = builder_.new_result(y_, desc);
    builder_.add_reorder(y_, residual, y);
    return y;
  }

  Status finish(const Operand& y) {
    if (slope_ != kNoValue && !made_.prelu) {
      MILLRACE_ASSIGN_OR_RETURN(const Operand slope,
                                builder_.packed(slope_, slope_desc(convolution_)));
      MILLRACE_RETURN_IF_ERROR(add_prelu(builder_, y, slope, y));
    }
    if (op_.activation.kind == graph::UnaryKind::kIdentity || made_.activation) return {};
    return add_unary(builder_, op_.activation, y, y);
  }

  Builder& builder_;
  const graph::Conv& op_;
  const Convolution convolution_;
  const ValueId x_, weight_, bias_, residual_, slope_, y_;
  FusedFunctions made_;  // what the step of the convolution does
  PrimitiveDesc primitive_;
  std::optional<PrimitiveDesc> unbounded_;  // present if primitive_ loses NaNs
};

}  // namespace

Status lower(Builder& builder, const Node& node, const graph::Conv& op) {
  if (separable::postpone(builder, node)) return {};
  MILLRACE_ASSIGN_OR_RETURN(const bool lowered, separable::lower_with_postponed(builder, node));
  if (lowered) return {};
  MILLRACE_ASSIGN_OR_RETURN(const bool is_depthwise, depthwise::lower(builder, node, op));
  if (is_depthwise) return {};
  MILLRACE_ASSIGN_OR_RETURN(const bool is_of_plane, plane::lower(builder, node, op));
  if (is_of_plane) return {};
  MILLRACE_ASSIGN_OR_RETURN(const bool is_of_picture, few_channels::lower(builder, node, op));
  if (is_of_picture) return {};
  return Lowering(builder, node, op).lower();
}

}  // namespace millrace::device::cpu::kernels
