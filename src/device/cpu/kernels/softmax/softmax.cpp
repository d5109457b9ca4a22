// Softmax and its logarithm.
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device/cpu/dnnl/invalid_flag.h"
#include "device/cpu/kernels/elements.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/softmax/rows.h"
#include "device/cpu/kernels/softmax/short_rows.h"
#include "device/cpu/steps/parts.h"

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

// The least number of short rows with which the loops for these are faster.
constexpr size_t kManyRows = 64;

bool are_many_short(size_t rows, size_t length) {
  return length <= kLongestShortRow && rows >= kManyRows;
}

// Softmax of contiguous rows of elements T.
template <class T>
class RowsStep final : public Step {
 public:
  RowsStep(size_t rows, size_t length, uint32_t parts, BufferId from, BufferId to)
      : rows_(rows),
        length_(length),
        are_short_(are_many_short(rows, length)),
        parts_(parts),
        from_(from),
        to_(to) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    run_parts(state, parts_, [&](uint32_t number) {
      const Share share = share_of(rows_, number, parts_);
      const T* const from = state.input<T>(from_) + share.first * length_;
      T* const to = state.output<T>(to_) + share.first * length_;
      if (are_short_)
        softmax_of_short_rows(from, to, share.count, length_);
      else
        softmax_of_rows(from, to, share.count, length_);
    });
    return {};
  }

 private:
  const size_t rows_, length_;
  const bool are_short_;
  const uint32_t parts_;
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
    if (kFlagShowsNan && !invalid_flag()) [[likely]]
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

// Returns the layout with contiguous lines that the loops run in: the present layout if its lines
// are contiguous, and else one that the value is copied to. Returns nothing where oneDNN, which may
// do without a copy, is to run instead.
std::optional<Desc> layout_of_rows(const Desc& now, size_t elements, const graph::Softmax& op) {
  if (op.log) return std::nullopt;
  const Dims dims = now.dims();
  const auto axis = static_cast<size_t>(op.axis);
  const std::optional<Dims> strides = strides_of(now);
  if (is_dense(now) && strides && (*strides)[axis] == 1) return now;
  if (axis + 1 != dims.size()) return std::nullopt;
  const auto length = static_cast<size_t>(dims[axis]);
  if (is_dense(now) && !are_many_short(elements / length, length)) return std::nullopt;
  return axis_last(dims, now.data_type(), op.axis);
}

Status lower_rows(Builder& builder, const Node& node, const Desc& layout, int64_t axis) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.in_layout(x, layout));
  const Operand to = builder.new_result_over(y, from.desc, x, from);
  const auto length = static_cast<size_t>(layout.dims()[static_cast<size_t>(axis)]);
  const size_t rows = builder.value(x).elements() / length;
  const auto make = [&](auto element) -> std::unique_ptr<const Step> {
    return std::make_unique<RowsStep<decltype(element)>>(rows, length, builder.chunks(),
                                                         from.buffer, to.buffer);
  };
  builder.add("Softmax", "millrace:vectors",
              builder.type() == ElementType::bf16 ? make(uint16_t{}) : make(float{}));
  return {};
}

}  // namespace

Status lower(Builder& builder, const Node& node, const graph::Softmax& op) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  const Dims dims = builder.dims(x);
  MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder.current(x));
  if (const auto layout = layout_of_rows(now.desc, builder.value(x).elements(), op))
    return lower_rows(builder, node, *layout, op.axis);
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
