#include "device/cpu/kernels/pooling/max_pooling/max_pooling.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "device/cpu/kernels/parts.h"
#include "device/cpu/kernels/pooling/max_pooling/loops.h"

namespace millrace::device::cpu::kernels::max_pooling {
namespace {

// Consecutive images, each of neighbouring channels.
struct Images {
  size_t count, channels;
};

template <class Number>
class MaxPoolStep final : public Step {
 public:
  MaxPoolStep(WindowPlan plan, const Images& images, BufferId from, BufferId to, uint32_t chunks)
      : plan_(std::move(plan)),
        images_(images),
        from_(from),
        to_(to),
        by_images_(rows() < chunks),
        parts_(
            static_cast<uint32_t>(std::min<size_t>(chunks, by_images_ ? images.count : rows()))) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }

  Status run(const RunState& state) const noexcept override {
    Whole whole{this, state.input<Number>(from_), state.output<Number>(to_)};
    run_parts(state, parts_, run_part, &whole);
    return {};
  }

 private:
  struct Whole {
    const MaxPoolStep* step;
    const Number* from;
    Number* to;
  };

  size_t rows() const noexcept { return plan_[0].positions.size() * plan_[1].positions.size(); }
  size_t image_size() const noexcept {
    return static_cast<size_t>(plan_[0].size * plan_[1].size * plan_[2].size) * images_.channels;
  }
  size_t result_size() const noexcept {
    return rows() * plan_[2].positions.size() * images_.channels;
  }

  // Computes the same rows of every image, or some of the images.
  static void run_part(void* data, uint32_t number) {
    const auto& [step, from, to] = *static_cast<const Whole*>(data);
    Share images{0, step->images_.count}, rows{0, step->rows()};
    Share& divided = step->by_images_ ? images : rows;
    divided = share_of(divided.count, number, step->parts_);
    for (size_t i = images.first; i < images.first + images.count; ++i)
      max_pooling::run(Work<Number>{&step->plan_, step->images_.channels,
                                    from + i * step->image_size(), to + i * step->result_size(),
                                    rows.first, rows.count});
  }

  const WindowPlan plan_;
  const Images images_;
  const BufferId from_, to_;
  const bool by_images_;
  const uint32_t parts_;
};

// Windows in the padding alone have no largest element.
bool sees_elements(const WindowPlan& plan) {
  return std::ranges::all_of(plan, [](const WindowAxis& axis) {
    return std::ranges::all_of(axis.positions, [](const Taps& taps) { return taps.count > 0; });
  });
}

size_t size(int64_t dim) {
  return static_cast<size_t>(dim);
}

// Describes the images of a layout with contiguous channels (blocked or all); otherwise nothing.
std::optional<Images> images_of(const Desc& desc) {
  const Dims dims = desc.dims();
  const ElementType type = desc.data_type();
  if (size(dims[1]) >= kLeastChannels && desc == channels_last_desc(dims, type))
    return Images{size(dims[0]), size(dims[1])};
  for (const int block : {16, 8})
    if (const Desc blocked = blocked_desc(dims, type, block); desc == blocked && !is_plain(blocked))
      return Images{size(dims[0] * ((dims[1] + block - 1) / block)), size(block)};
  return std::nullopt;
}

template <class Number>
std::unique_ptr<const Step> make_step(const Builder& builder, WindowPlan plan, const Images& images,
                                      const Operand& from, const Operand& to) {
  return std::make_unique<MaxPoolStep<Number>>(std::move(plan), images, from.buffer, to.buffer,
                                               builder.chunks());
}

}  // namespace

Result<std::optional<Operand>> add(Builder& builder, const graph::Pool& op, graph::ValueId x,
                                   const Dims& dims) {
  const Dims from_dims = builder.dims(x);
  WindowPlan plan = window_plan(op, from_dims, dims);
  if (!sees_elements(plan)) return std::optional<Operand>();
  MILLRACE_ASSIGN_OR_RETURN(Operand from, builder.current(x));
  auto images = images_of(from.desc);
  if (!images && size(from_dims[1]) >= kLeastChannels) {
    const Desc layout = channels_last_desc(from_dims, builder.type());
    MILLRACE_ASSIGN_OR_RETURN(from, builder.in_layout(x, layout));
    images = images_of(layout);
  }
  if (!images) return std::optional<Operand>();
  const Operand to = builder.new_temporary(dense_like(from.desc, dims));
  builder.add("Pool", "millrace:max",
              builder.type() == ElementType::bf16
                  ? make_step<uint16_t>(builder, std::move(plan), *images, from, to)
                  : make_step<float>(builder, std::move(plan), *images, from, to));
  return std::optional(to);
}

}  // namespace millrace::device::cpu::kernels::max_pooling
