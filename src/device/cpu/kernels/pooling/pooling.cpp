// Lowers Pool and GlobalPool: averages use oneDNN, maxima the loops of max_pooling, and all other
// cases the loop of plain_pooling.cpp.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/movement/mapped_copy.h"
#include "device/cpu/kernels/pooling/max_pooling/max_pooling.h"
#include "device/cpu/kernels/pooling/pooling.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {
namespace {

using PrimitiveDesc = PoolingPrimitive::primitive_desc;

// One entry per spatial dimension; `dilations` counts as oneDNN does: 0 means no dilation.
struct Window {
  dnnl::algorithm algorithm;
  Dims kernel, strides, dilations, pads_begin, pads_end;
};

bool any_above_zero(const Dims& values) {
  return std::ranges::any_of(values, [](int64_t value) { return value > 0; });
}

std::optional<Choice<PrimitiveDesc, Desc>> choose_pooling(const Builder& builder,
                                                          const Window& window,
                                                          const std::vector<Desc>& layouts,
                                                          const Dims& dims) {
  const Desc result = any_desc(dims, builder.type());
  return choose(layouts, [&](const Desc& layout) {
    return find_primitive<PoolingPrimitive>(builder.engine(), make_attributes(),
                                            dnnl::prop_kind::forward_inference, window.algorithm,
                                            layout, result, window.strides, window.kernel,
                                            window.dilations, window.pads_begin, window.pads_end);
  });
}

Operand add_chosen(Builder& builder, const PrimitiveDesc& primitive, const Operand& from) {
  const Operand to = builder.new_temporary(primitive.dst_desc());
  builder.add_primitive("Pool", primitive, PoolingPrimitive(primitive),
                        {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  return to;
}

// oneDNN's average counts all padding or none of it. If only a part counts, that part is padded
// with zeros beforehand.
Result<Operand> add_partly_counting(Builder& builder, const graph::Pool& op, Window window,
                                    graph::ValueId x, const Dims& dims) {
  const Dims from = builder.dims(x), strides = plain_strides(from);
  CopyMap map;
  Dims padded_dims;
  for (size_t i = 0; i < from.size(); ++i) {
    map.push_back(index_range(0, from[i], 1, strides[i]));
    if (i >= 2) {
      const auto begin = static_cast<size_t>(op.pads_begin[i - 2]);
      const auto end = static_cast<size_t>(op.pads_end[i - 2] - op.ceil_excess[i - 2]);
      map[i].insert(map[i].begin(), begin, kFill);
      map[i].insert(map[i].end(), end, kFill);
    }
    padded_dims.push_back(static_cast<int64_t>(map[i].size()));
  }
  window.pads_begin.assign(window.pads_begin.size(), 0);
  window.pads_end = op.ceil_excess;
  window.algorithm = dnnl::algorithm::pooling_avg_exclude_padding;
  const auto choice =
      choose_pooling(builder, window, {plain_desc(padded_dims, builder.type())}, dims);
  if (!choice) return unsupported("oneDNN has no pooling of this shape");
  MILLRACE_ASSIGN_OR_RETURN(const Operand padded,
                            add_mapped_copy(builder, "Pad", x, std::move(map)));
  return add_chosen(builder, choice->primitive, padded);
}

Result<Operand> add_mean(Builder& builder, const Window& window, graph::ValueId x,
                         const Dims& dims) {
  MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder.current(x));
  const auto choice = choose_pooling(builder, window, layouts_for(now.desc), dims);
  if (!choice) return unsupported("oneDNN has no pooling of this shape");
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.in_layout(x, choice->option));
  return add_chosen(builder, choice->primitive, from);
}

Result<Operand> add_means(Builder& builder, const graph::Pool& op, graph::ValueId x,
                          const Dims& dims) {
  const bool counts_padding =
      op.count_include_pad && (any_above_zero(op.pads_begin) || any_above_zero(op.pads_end));
  const Window window{counts_padding ? dnnl::algorithm::pooling_avg_include_padding
                                     : dnnl::algorithm::pooling_avg_exclude_padding,
                      op.kernel,
                      op.strides,
                      gaps_of(op.dilations),
                      op.pads_begin,
                      op.pads_end};
  return counts_padding && any_above_zero(op.ceil_excess)
             ? add_partly_counting(builder, op, window, x, dims)
             : add_mean(builder, window, x, dims);
}

Result<Operand> add_largest(Builder& builder, const graph::Pool& op, graph::ValueId x,
                            const Dims& dims) {
  MILLRACE_ASSIGN_OR_RETURN(const auto added, max_pooling::add(builder, op, x, dims));
  if (added) return *added;
  return add_plain_pooling(builder, op, x, dims);
}

Result<Operand> add_pooling(Builder& builder, const graph::Pool& op, graph::ValueId x,
                            const Dims& dims) {
  if (!builder.is_floating(x)) return add_plain_pooling(builder, op, x, dims);
  if (op.kind == graph::PoolKind::kMax) return add_largest(builder, op, x, dims);
  Result<Operand> result = add_means(builder, op, x, dims);
  if (result.status().code() == StatusCode::kUnsupported)
    return add_plain_pooling(builder, op, x, dims);
  return result;
}

}  // namespace

Result<Operand> add_global_pooling(Builder& builder, graph::PoolKind kind, graph::ValueId x) {
  Dims dims = builder.dims(x);
  const Dims kernel(dims.begin() + 2, dims.end());
  const Dims zeros(kernel.size(), 0), ones(kernel.size(), 1);
  std::fill(dims.begin() + 2, dims.end(), 1);
  return add_pooling(builder, {kind, kernel, ones, ones, zeros, zeros, zeros, false}, x, dims);
}

Status lower(Builder& builder, const Node& node, const graph::Pool& op) {
  const graph::ValueId y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(const Operand result,
                            add_pooling(builder, op, node.input(0), builder.dims(y)));
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
