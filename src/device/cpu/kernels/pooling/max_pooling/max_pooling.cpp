// The step of a maximum pooling. oneDNN's primitive runs first if it is a fast one, and the loops
// run in its place if NaNs may be among the elements (careful_step.h). Otherwise the loops run
// alone.
#include "device/cpu/kernels/pooling/max_pooling/max_pooling.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "device/cpu/dnnl/invalid_flag.h"
#include "device/cpu/dnnl/traits.h"
#include "device/cpu/kernels/careful_step.h"
#include "device/cpu/kernels/elementwise/loop_step.h"
#include "device/cpu/kernels/pooling/max_pooling/loops.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/steps/parts.h"

namespace millrace::device::cpu::kernels::max_pooling {
namespace {

// Images that follow each other in memory, each with contiguous channels.
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
    const auto* const from = state.input<Number>(from_);
    auto* const to = state.output<Number>(to_);
    run_parts(state, parts_, [=, this](uint32_t number) { run_part(from, to, number); });
    return {};
  }

 private:
  size_t rows() const noexcept { return plan_[0].positions.size() * plan_[1].positions.size(); }
  size_t image_size() const noexcept {
    return static_cast<size_t>(plan_[0].size * plan_[1].size * plan_[2].size) * images_.channels;
  }
  size_t result_size() const noexcept {
    return rows() * plan_[2].positions.size() * images_.channels;
  }

  // Computes the same rows of every image, or some of the images.
  void run_part(const Number* from, Number* to, uint32_t number) const noexcept {
    Share images{0, images_.count}, rows{0, this->rows()};
    Share& divided = by_images_ ? images : rows;
    divided = share_of(divided.count, number, parts_);
    for (size_t i = images.first; i < images.first + images.count; ++i)
      max_pooling::run(Work<Number>{&plan_, images_.channels, from + i * image_size(),
                                    to + i * result_size(), rows.first, rows.count});
  }

  const WindowPlan plan_;
  const Images images_;
  const BufferId from_, to_;
  const bool by_images_;
  const uint32_t parts_;
};

// Whether every window has an element: padding alone has no maximum.
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

// oneDNN's maximum over windows. It starts with the lowest finite number, which is left if all
// elements are -inf. The step then raises the flag of invalid operations, as a NaN does.
template <class Number>
class OneDnnStep final : public Step {
 public:
  OneDnnStep(std::unique_ptr<const Step> primitive, const Operand& to)
      : primitive_(std::move(primitive)), to_(to.buffer), count_(elements_in_memory(to.desc)) {}
  std::span<const Argument> arguments() const noexcept override { return primitive_->arguments(); }
  std::span<const Argument> operands() const noexcept override { return primitive_->operands(); }
  std::vector<BufferId> buffers() const override { return primitive_->buffers(); }

  Status run(const RunState& state) const noexcept override {
    MILLRACE_RETURN_IF_ERROR(primitive_->run(state));
    if (has_lowest(state.output<Number>(to_), count_)) raise_invalid_flag();
    return {};
  }

 private:
  const std::unique_ptr<const Step> primitive_;
  const BufferId to_;
  const size_t count_;
};

// Returns whether the value cannot be -inf, since the node that makes it has a lower bound.
bool has_lower_bound(const Builder& builder, graph::ValueId x) {
  const graph::Node* const maker = builder.maker(x);
  if (maker == nullptr) return false;
  const auto* const convolution = std::get_if<graph::Conv>(&maker->op);
  const auto* const unary = std::get_if<graph::Unary>(&maker->op);
  if (convolution == nullptr && unary == nullptr) return false;
  const auto bounds =
      last_bounds(convolution != nullptr ? convolution->activation : unary->function);
  return bounds && bounds->least > std::numeric_limits<float>::lowest();
}

// Returns null if oneDNN has no fast primitive.
std::unique_ptr<const Step> make_onednn_step(Builder& builder, const graph::Pool& op,
                                             graph::ValueId x, const Operand& from,
                                             const Operand& to, std::string& implementation) {
  const auto primitive = find_primitive<PoolingPrimitive>(
      builder.engine(), make_attributes(), dnnl::prop_kind::forward_inference,
      dnnl::algorithm::pooling_max, from.desc, to.desc, op.strides, op.kernel,
      gaps_of(op.dilations), op.pads_begin, op.pads_end);
  if (!primitive || is_reference(primitive.impl_info_str())) return nullptr;
  implementation = primitive.impl_info_str();
  auto step = primitive_step<PoolingPrimitive>(builder, primitive,
                                               {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  if (has_lower_bound(builder, x)) return step;
  if (builder.type() == ElementType::bf16)
    return std::make_unique<OneDnnStep<uint16_t>>(std::move(step), to);
  return std::make_unique<OneDnnStep<float>>(std::move(step), to);
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
  auto loops = builder.type() == ElementType::bf16
                   ? make_step<uint16_t>(builder, std::move(plan), *images, from, to)
                   : make_step<float>(builder, std::move(plan), *images, from, to);
  std::string implementation = "millrace:max";
  if (auto primitive = make_onednn_step(builder, op, x, from, to, implementation))
    add_careful_step(builder, "Pool", std::move(implementation), std::move(primitive),
                     std::move(loops));
  else
    builder.add("Pool", std::move(implementation), std::move(loops));
  return std::optional(to);
}

}  // namespace millrace::device::cpu::kernels::max_pooling
