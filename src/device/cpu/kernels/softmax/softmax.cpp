// Softmax and its logarithm.
#include <numeric>
#include <vector>

#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {
namespace {

using PrimitiveDesc = dnnl::softmax_v2_forward::primitive_desc;

// Dense with `axis` innermost, where the fast kernels want it.
Desc axis_last(const Dims& dims, ElementType type, int64_t axis) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < dims.size(); ++i)
    if (i != axis) order.push_back(i);
  order.push_back(static_cast<uint32_t>(axis));
  return ordered_desc(dims, type, order);
}

}  // namespace

Status lower(Builder& builder, const Node& node, const graph::Softmax& op) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  const Dims dims = builder.dims(x);
  MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder.current(x));
  const auto algorithm = op.log ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  std::vector<Desc> layouts = layouts_for(now.desc);
  layouts.insert(layouts.begin() + (is_dense(now.desc) ? 1 : 0),
                 axis_last(dims, builder.type(), op.axis));
  const auto choice = choose(layouts, [&](const Desc& layout) {
    const dnnl::softmax_v2_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm, layout,
                                              layout, static_cast<int>(op.axis));
    return PrimitiveDesc(desc, make_attributes(), builder.engine(), /*allow_empty=*/true);
  });
  if (!choice) return unsupported("oneDNN has no softmax of this shape");
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.in_layout(x, choice->option));
  const Operand to = builder.new_result_over(y, choice->primitive.dst_desc(), x, from);
  builder.add_primitive("Softmax", choice->primitive, dnnl::softmax_v2_forward(choice->primitive),
                        {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  return {};
}

}  // namespace millrace::device::cpu::kernels
