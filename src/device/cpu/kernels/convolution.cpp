// Conv, with its fused residual sum and activation.
#include <utility>
#include <vector>

#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::kNoValue;
using graph::ValueId;
using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;

// One way to make the primitive.
struct Attempt {
  bool blocked = false;  // channels in blocks; else the library chooses the layouts
  // What the primitive itself does to its result; the rest follows as steps of their own.
  bool prelu = false;
  bool activation = false;
};

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

  Status lower() {
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
      MILLRACE_ASSIGN_OR_RETURN(const Operand slope, builder_.packed(slope_, slope_desc()));
      arguments.push_back({prelu_argument(), slope});
    }
    MILLRACE_ASSIGN_OR_RETURN(const Operand y, make_result());
    arguments.push_back({DNNL_ARG_DST, y});
    builder_.add_primitive("Conv", primitive_, dnnl::convolution_forward(primitive_),
                           std::move(arguments));
    return finish(y);
  }

 private:
  // [M, C / group, kernel...], with the groups split off where there are any.
  Dims weight_dims() const {
    Dims dims = builder_.dims(weight_);
    if (op_.group == 1) return dims;
    dims[0] /= op_.group;
    dims.insert(dims.begin(), op_.group);
    return dims;
  }

  Desc slope_desc() const {
    Dims dims(builder_.dims(y_).size(), 1);
    dims[1] = builder_.dims(y_)[1];
    return plain_desc(dims, ElementType::f32);
  }

  int prelu_argument() const {
    const int index = residual_ == kNoValue ? 0 : 1;
    return DNNL_ARG_ATTR_MULTIPLE_POST_OP(index) | DNNL_ARG_WEIGHTS;
  }

  // Channels in blocks join and split without copies, and their kernels are as fast as any.
  Desc image_desc(const Dims& dims, bool blocked) const {
    // The first convolution of a network takes its few channels as they come.
    constexpr int64_t kFewChannels = 4;
    if (!blocked || dims[1] <= kFewChannels) return any_desc(dims, builder_.type());
    return blocked_desc(dims, builder_.type(), channel_block());
  }

  PrimitiveDesc make_primitive(const Attempt& attempt) const {
    dnnl::post_ops post_ops;
    if (residual_ != kNoValue) post_ops.append_sum(1);
    if (attempt.prelu) post_ops.append_prelu(1 << 1);
    if (attempt.activation) append_activation(post_ops, op_.activation);
    dnnl::primitive_attr attributes = make_attributes();
    attributes.set_post_ops(post_ops);
    const Desc bias =
        bias_ == kNoValue ? Desc() : plain_desc(builder_.dims(bias_), ElementType::f32);
    // The library counts the gap between the taps, ONNX the distance.
    Dims dilations = op_.dilations;
    for (int64_t& dilation : dilations) --dilation;
    const dnnl::convolution_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
        image_desc(builder_.dims(x_), attempt.blocked), any_desc(weight_dims(), builder_.type()),
        bias, image_desc(builder_.dims(y_), attempt.blocked), op_.strides, dilations,
        op_.pads_begin, op_.pads_end);
    return PrimitiveDesc(desc, attributes, builder_.engine(), /*allow_empty=*/true);
  }

  Status choose_primitive() {
    dnnl::post_ops unused;
    const bool prelu = slope_ != kNoValue, activation = append_activation(unused, op_.activation);
    const auto choice = choose(std::vector<Attempt>{{true, prelu, activation},
                                                    {false, prelu, activation},
                                                    {true, false, false},
                                                    {false, false, false}},
                               [this](const Attempt& attempt) { return make_primitive(attempt); });
    if (!choice) return unsupported("oneDNN has no convolution of this shape");
    primitive_ = choice->primitive;
    made_ = choice->option;
    return {};
  }

  // The memory of the result: with a residual, that of the residual, to which the primitive adds.
  Result<Operand> make_result() {
    const Desc desc = primitive_.dst_desc();
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
      MILLRACE_ASSIGN_OR_RETURN(const Operand slope, builder_.packed(slope_, slope_desc()));
      MILLRACE_RETURN_IF_ERROR(add_prelu(builder_, y, slope, y));
    }
    if (op_.activation.kind == graph::UnaryKind::kIdentity || made_.activation) return {};
    return add_unary(builder_, op_.activation, y, y);
  }

  Builder& builder_;
  const graph::Conv& op_;
  const ValueId x_, weight_, bias_, residual_, slope_, y_;
  Attempt made_;  // how primitive_ was made
  PrimitiveDesc primitive_;
};

}  // namespace

Status lower(Builder& builder, const Node& node, const graph::Conv& op) {
  return Lowering(builder, node, op).lower();
}

}  // namespace millrace::device::cpu::kernels
