#include "device/cpu/kernels/pooling/max_pooling/max_pooling.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "device/cpu/kernels/parts.h"
#include "device/cpu/kernels/pooling/max_pooling/loops.h"

namespace millrace::device::cpu::kernels::max_pooling {
namespace {

class MaxPoolStep final : public Step {
 public:
  MaxPoolStep(WindowPlan plan, size_t images, size_t channels, BufferId from, BufferId to,
              uint32_t chunks)
      : plan_(std::move(plan)),
        images_(images),
        channels_(channels),
        from_(from),
        to_(to),
        parts_(static_cast<uint32_t>(std::min<size_t>(chunks, rows()))) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }

  Status run(const RunState& state) const noexcept override {
    const auto& [depth, height, width] = plan_;
    Whole whole{
        this, {&plan_, channels_, state.input<uint16_t>(from_), state.output<uint16_t>(to_), 0, 0}};
    for (size_t i = 0; i < images_; ++i) {
      run_parts(state, parts_, run_part, &whole);
      whole.work.image += static_cast<size_t>(height.size * width.size) * channels_;
      whole.work.result += rows() * width.positions.size() * channels_;
    }
    return {};
  }

 private:
  struct Whole {
    const MaxPoolStep* step;
    Work work;
  };

  size_t rows() const noexcept { return plan_[1].positions.size(); }

  static void run_part(void* data, uint32_t number) {
    const auto& [step, all] = *static_cast<const Whole*>(data);
    const Share share = share_of(step->rows(), number, step->parts_);
    Work work = all;
    work.first_row = share.first;
    work.rows = share.count;
    max_pooling::run(work);
  }

  const WindowPlan plan_;
  const size_t images_, channels_;
  const BufferId from_, to_;
  const uint32_t parts_;
};

Desc innermost(const Dims& dims) {
  constexpr std::array<uint32_t, 4> kOrder = {0, 2, 3, 1};
  return ordered_desc(dims, ElementType::bf16, kOrder);
}

// Windows in the padding alone have no largest element.
bool sees_elements(const WindowPlan& plan) {
  return std::ranges::all_of(plan, [](const WindowAxis& axis) {
    return std::ranges::all_of(axis.positions, [](const Taps& taps) { return taps.count > 0; });
  });
}

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Pool& op) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  const Dims from_dims = builder.dims(x), to_dims = builder.dims(y);
  if (op.kind != graph::PoolKind::kMax || builder.type() != ElementType::bf16 ||
      from_dims.size() != 4 || from_dims[1] < static_cast<int64_t>(kLeastChannels))
    return false;
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.current(x));
  WindowPlan plan = window_plan(op, from_dims, to_dims);
  if (from.desc != innermost(from_dims) || !sees_elements(plan)) return false;
  const Operand to = builder.new_result(y, innermost(to_dims));
  builder.add("Pool", "millrace:max",
              std::make_unique<MaxPoolStep>(std::move(plan), static_cast<size_t>(from_dims[0]),
                                            static_cast<size_t>(from_dims[1]), from.buffer,
                                            to.buffer, builder.chunks()));
  return true;
}

}  // namespace millrace::device::cpu::kernels::max_pooling
