// Softmax and its logarithm.
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/softmax/short_rows.h"

namespace millrace::device::cpu::kernels {
namespace {

// Dense with `axis` innermost, where the fast kernels want it.
Desc axis_last(const Dims& dims, ElementType type, int64_t axis) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < dims.size(); ++i)
    if (i != axis) order.push_back(i);
  order.push_back(static_cast<uint32_t>(axis));
  return ordered_desc(dims, type, order);
}

// Of numbers that are stored as T.
template <class T>
class ShortRowsStep final : public Step {
 public:
  ShortRowsStep(size_t rows, size_t length, BufferId from, BufferId to)
      : rows_(rows), length_(length), from_(from), to_(to) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    softmax_of_short_rows(state.input<T>(from_), state.output<T>(to_), rows_, length_);
    return {};
  }

 private:
  const size_t rows_, length_;
  const BufferId from_, to_;
};

// Below some rows there is nothing to gain.
constexpr int64_t kManyRows = 64;

bool has_many_short_rows(const Dims& dims, const graph::Softmax& op) {
  const int64_t length = dims.back();
  if (op.log) return false;
  if (op.axis + 1 != static_cast<int64_t>(dims.size())) return false;
  return length <= static_cast<int64_t>(kLongestShortRow) &&
         std::accumulate(dims.begin(), dims.end() - 1, int64_t{1}, std::multiplies<>()) >=
             kManyRows;
}

Status lower_short_rows(Builder& builder, const Node& node) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.plain(x));
  const Operand to = builder.new_result_over(y, from.desc, x, from);
  const auto length = static_cast<size_t>(builder.dims(x).back());
  const size_t rows = builder.value(x).elements() / length;
  std::unique_ptr<const Step> step;
  if (builder.type() == ElementType::f32)
    step = std::make_unique<ShortRowsStep<float>>(rows, length, from.buffer, to.buffer);
  else
    step = std::make_unique<ShortRowsStep<uint16_t>>(rows, length, from.buffer, to.buffer);
  builder.add("Softmax", "millrace:vectors", std::move(step));
  return {};
}

}  // namespace

Status lower(Builder& builder, const Node& node, const graph::Softmax& op) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  const Dims dims = builder.dims(x);
  if (has_many_short_rows(dims, op)) return lower_short_rows(builder, node);
  MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder.current(x));
  const auto algorithm = op.log ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  std::vector<Desc> layouts = layouts_for(now.desc);
  layouts.insert(layouts.begin() + (is_dense(now.desc) ? 1 : 0),
                 axis_last(dims, builder.type(), op.axis));
  const auto choice = choose(layouts, [&](const Desc& layout) {
    return find_primitive<SoftmaxPrimitive>(builder.engine(), make_attributes(),
                                            dnnl::prop_kind::forward_inference, algorithm, layout,
                                            layout, static_cast<int>(op.axis));
  });
  if (!choice) return unsupported("oneDNN has no softmax of this shape");
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.in_layout(x, choice->option));
  const Operand to = builder.new_result_over(y, choice->primitive.dst_desc(), x, from);
  builder.add_primitive("Softmax", choice->primitive, SoftmaxPrimitive(choice->primitive),
                        {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  return {};
}

}  // namespace millrace::device::cpu::kernels
