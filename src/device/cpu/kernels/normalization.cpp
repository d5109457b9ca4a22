// BatchNormalization that the compiler could not fold into a neighbour.
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {

Status lower(Builder& builder, const Node& node, const graph::BatchNormalization& op) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder.current(x));
  const auto flags = dnnl::normalization_flags::use_global_stats |
                     dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  const auto choice = choose(layouts_for(now.desc), [&](const Desc& layout) {
    return find_batch_normalization(builder.engine(), make_attributes(), layout, op.epsilon, flags);
  });
  if (!choice) return unsupported("oneDNN has no batch normalisation of this shape");
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.in_layout(x, choice->option));
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, from}};
  constexpr int kStatistics[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE};
  for (size_t i = 0; i < std::size(kStatistics); ++i) {
    const graph::ValueId id = node.input(i + 1);
    MILLRACE_ASSIGN_OR_RETURN(const Operand statistic,
                              builder.packed(id, plain_desc(builder.dims(id), ElementType::f32)));
    arguments.push_back({kStatistics[i], statistic});
  }
  const Operand to = builder.new_result_over(y, choice->primitive.dst_desc(), x, from);
  arguments.push_back({DNNL_ARG_DST, to});
  builder.add_primitive("BatchNormalization", choice->primitive,
                        dnnl::batch_normalization_forward(choice->primitive), std::move(arguments));
  return {};
}

}  // namespace millrace::device::cpu::kernels
