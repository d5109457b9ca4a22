#include "device/cpu/kernels/convolution/primitive.h"

#include "device/cpu/dnnl/convolution.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::kNoValue;

Dims weight_dims(Dims dims, int64_t group) {
  if (group == 1) return dims;
  dims[0] /= group;
  dims.insert(dims.begin(), group);
  return dims;
}

Desc image_desc(const Dims& dims, ElementType type, Form form) {
  // Lets oneDNN choose the layout of a network's input with few channels.
  constexpr int64_t kFewChannels = 4;
  if (dims[1] <= kFewChannels) return any_desc(dims, type);
  if (form == Form::kBlocked) return blocked_desc(dims, type, channel_block());
  if (form == Form::kChannelsLast) return channels_last_desc(dims, type);
  return any_desc(dims, type);
}

dnnl::post_ops operations_before_activation(const Convolution& convolution,
                                            const FusedFunctions& fused) {
  dnnl::post_ops post_ops;
  if (convolution.has_residual) post_ops.append_sum(1);
  if (fused.prelu) post_ops.append_prelu(1 << 1);
  return post_ops;
}

}  // namespace

Convolution::Convolution(const graph::Graph& graph, const graph::Node& node, const graph::Conv& op,
                         ElementType type)
    : op(&op),
      type(type),
      x(graph.values[node.input(0)].shape),
      y(graph.values[node.outputs[0]].shape),
      weight(weight_dims(graph.values[node.input(1)].shape, op.group)),
      bias(node.input(2) == kNoValue ? Dims() : graph.values[node.input(2)].shape),
      has_residual(node.input(3) != kNoValue),
      has_slope(node.input(4) != kNoValue) {}

// oneDNN's exponential loses NaNs.
bool can_fuse_activation(const graph::Conv& op) {
  if (op.activation.kind == graph::UnaryKind::kExp) return false;
  dnnl::post_ops unused;
  return append_activation(unused, op.activation);
}

dnnl::convolution_forward::primitive_desc make_convolution(const Convolution& convolution,
                                                           Form form, const FusedFunctions& fused,
                                                           const dnnl::engine& engine) {
  const graph::Conv& op = *convolution.op;
  dnnl::post_ops post_ops = operations_before_activation(convolution, fused);
  if (fused.activation) append_activation(post_ops, op.activation);
  dnnl::primitive_attr attributes = make_attributes();
  attributes.set_post_ops(post_ops);
  const Desc bias =
      convolution.bias.empty() ? Desc() : plain_desc(convolution.bias, ElementType::f32);
  const ElementType type = convolution.type;
  return find_convolution(
      engine, attributes,
      {image_desc(convolution.x, type, form), any_desc(convolution.weight, type), bias,
       image_desc(convolution.y, type, form), op.strides, op.dilations, op.pads_begin,
       op.pads_end});
}

dnnl::convolution_forward::primitive_desc make_unbounded(
    const Convolution& convolution, const FusedFunctions& fused,
    const dnnl::convolution_forward::primitive_desc& whole, const dnnl::engine& engine) {
  const graph::Conv& op = *convolution.op;
  dnnl::post_ops post_ops = operations_before_activation(convolution, fused);
  append_before_bounds(post_ops, op.activation);
  dnnl::primitive_attr attributes = make_attributes();
  attributes.set_post_ops(post_ops);
  return find_convolution(engine, attributes,
                          {whole.src_desc(), whole.weights_desc(), whole.bias_desc(),
                           whole.dst_desc(), op.strides, op.dilations, op.pads_begin, op.pads_end},
                          only_named(whole.impl_info_str()));
}

Desc slope_desc(const Convolution& convolution) {
  Dims dims(convolution.y.size(), 1);
  dims[1] = convolution.y[1];
  return plain_desc(dims, ElementType::f32);
}

int prelu_argument(const Convolution& convolution) {
  const int index = convolution.has_residual ? 1 : 0;
  return DNNL_ARG_ATTR_MULTIPLE_POST_OP(index) | DNNL_ARG_WEIGHTS;
}

}  // namespace millrace::device::cpu::kernels
