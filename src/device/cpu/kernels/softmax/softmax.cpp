// Softmax and its logarithm.
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "device/cpu/dnnl/invalid_flag.h"
#include "device/cpu/kernels/elements.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/softmax/short_rows.h"

namespace millrace::device::cpu::kernels {
namespace {

// Returns a dense layout with `axis` innermost, which the fast kernels need.
Desc axis_last(const Dims& dims, ElementType type, int64_t axis) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < dims.size(); ++i)
    if (i != axis) order.push_back(i);
  order.push_back(static_cast<uint32_t>(axis));
  return ordered_desc(dims, type, order);
}

// Softmax of short rows of elements T.
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

// oneDNN's softmax, and its logarithm, over the lines of a tensor without blocks. For a line with a
// NaN or inf oneDNN returns at least one NaN, and numbers elsewhere. This step makes all results of
// such a line NaN, since they share one sum. The processor's flag for invalid operations shows that
// there may be such lines.
class LinesStep final : public Step {
 public:
  LinesStep(dnnl::primitive primitive, std::vector<Argument> arguments, const Operand& result,
            size_t axis)
      : primitive_(std::move(primitive), std::move(arguments)),
        result_(result.buffer),
        is_bf16_(result.desc.data_type() == ElementType::bf16),
        dims_(result.desc.dims()),
        strides_(*strides_of(result.desc)),
        axis_(axis) {}
  std::span<const Argument> arguments() const noexcept override { return primitive_.arguments(); }
  std::vector<BufferId> buffers() const override { return primitive_.buffers(); }

  Status run(const RunState& state) const noexcept override {
    clear_invalid_flag();
    MILLRACE_RETURN_IF_ERROR(primitive_.run(state));
    if (!invalid_flag()) [[likely]]
      return {};
    if (is_bf16_)
      spread_nans(state.output<Bf16>(result_));
    else
      spread_nans(state.output<float>(result_));
    return {};
  }

 private:
  // Sets each line that has a NaN to NaN throughout.
  template <class T>
  void spread_nans(T* elements) const noexcept {
    std::array<int64_t, DNNL_MAX_NDIMS> index{};
    do {
      int64_t first = 0;
      for (size_t d = 0; d < dims_.size(); ++d) first += index[d] * strides_[d];
      spread_nan(elements + first);
    } while (advance(index));
  }

  template <class T>
  void spread_nan(T* line) const noexcept {
    const int64_t stride = strides_[axis_];
    bool has_nan = false;
    for (int64_t i = 0; i < dims_[axis_]; ++i)
      has_nan = has_nan || std::isnan(to_float(line[i * stride]));
    if (!has_nan) return;
    const T nan = from_float<T>(std::numeric_limits<float>::quiet_NaN());
    for (int64_t i = 0; i < dims_[axis_]; ++i) line[i * stride] = nan;
  }

  // Moves on to the next line.
  bool advance(std::array<int64_t, DNNL_MAX_NDIMS>& index) const noexcept {
    for (size_t d = dims_.size(); d-- > 0;) {
      if (d == axis_) continue;
      if (++index[d] < dims_[d]) return true;
      index[d] = 0;
    }
    return false;
  }

  const PrimitiveStep primitive_;
  const BufferId result_;
  const bool is_bf16_;
  const Dims dims_, strides_;
  const size_t axis_;
};

// The least number of rows with which the loops are faster.
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
  std::erase_if(layouts, [](const Desc& layout) { return !strides_of(layout).has_value(); });
  const auto choice = choose(layouts, [&](const Desc& layout) {
    return find_primitive<SoftmaxPrimitive>(builder.engine(), make_attributes(),
                                            dnnl::prop_kind::forward_inference, algorithm, layout,
                                            layout, static_cast<int>(op.axis));
  });
  if (!choice) return unsupported("oneDNN has no softmax of this shape");
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.in_layout(x, choice->option));
  const Operand to = builder.new_result_over(y, choice->primitive.dst_desc(), x, from);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}};
  if (const Desc scratch = choice->primitive.scratchpad_desc(); scratch.get_size() > 0)
    arguments.push_back({DNNL_ARG_SCRATCHPAD, builder.new_temporary(scratch)});
  builder.add("Softmax", choice->primitive.impl_info_str(),
              std::make_unique<LinesStep>(SoftmaxPrimitive(choice->primitive), std::move(arguments),
                                          to, static_cast<size_t>(op.axis)));
  return {};
}

}  // namespace millrace::device::cpu::kernels
