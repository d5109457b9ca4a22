// Pool and GlobalPool.
#include <algorithm>

#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/pooling.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {
namespace {

using PrimitiveDesc = dnnl::pooling_v2_forward::primitive_desc;

bool any_above_zero(const Dims& values) {
  return std::ranges::any_of(values, [](int64_t value) { return value > 0; });
}

}  // namespace

Result<Operand> add_pooling(Builder& builder, const Window& window, graph::ValueId x,
                            const Dims& dims) {
  MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder.current(x));
  const Desc result = any_desc(dims, builder.type());
  auto choice = choose(layouts_for(now.desc), [&](const Desc& layout) {
    const dnnl::pooling_v2_forward::desc desc(dnnl::prop_kind::forward_inference, window.algorithm,
                                              layout, result, window.strides, window.kernel,
                                              window.dilations, window.pads_begin, window.pads_end);
    return PrimitiveDesc(desc, make_attributes(), builder.engine(), /*allow_empty=*/true);
  });
  if (!choice) return unsupported("oneDNN has no pooling of this shape");
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.in_layout(x, choice->option));
  const Operand to = builder.new_temporary(choice->primitive.dst_desc());
  builder.add_primitive("Pool", choice->primitive, dnnl::pooling_v2_forward(choice->primitive),
                        {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  return to;
}

Result<Operand> add_global_pooling(Builder& builder, graph::PoolKind kind, graph::ValueId x) {
  Dims dims = builder.dims(x);
  const Dims kernel(dims.begin() + 2, dims.end());
  const Dims zeros(kernel.size(), 0), ones(kernel.size(), 1);
  std::fill(dims.begin() + 2, dims.end(), 1);
  const auto algorithm = kind == graph::PoolKind::kMax
                             ? dnnl::algorithm::pooling_max
                             : dnnl::algorithm::pooling_avg_exclude_padding;
  return add_pooling(builder, {algorithm, kernel, ones, zeros, zeros, zeros}, x, dims);
}

Status lower(Builder& builder, const Node& node, const graph::Pool& op) {
  const bool counts_padding = op.kind == graph::PoolKind::kAverage && op.count_include_pad &&
                              (any_above_zero(op.pads_begin) || any_above_zero(op.pads_end));
  if (counts_padding && any_above_zero(op.ceil_excess))
    return unsupported("an average that counts padding, in ceil mode");
  Window window{dnnl::algorithm::pooling_max,
                op.kernel,
                op.strides,
                op.dilations,
                op.pads_begin,
                op.pads_end};
  if (op.kind == graph::PoolKind::kAverage)
    window.algorithm = counts_padding ? dnnl::algorithm::pooling_avg_include_padding
                                      : dnnl::algorithm::pooling_avg_exclude_padding;
  // The library counts the gap between the taps, ONNX the distance.
  for (int64_t& dilation : window.dilations) --dilation;
  const graph::ValueId y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(const Operand result,
                            add_pooling(builder, window, node.input(0), builder.dims(y)));
  builder.set_result(y, result);
  return {};
}

Status lower(Builder& builder, const Node& node, const graph::GlobalPool& op) {
  MILLRACE_ASSIGN_OR_RETURN(const Operand result,
                            add_global_pooling(builder, op.kind, node.input(0)));
  builder.set_result(node.outputs[0], result);
  return {};
}

}  // namespace millrace::device::cpu::kernels
