// The step, divided by rows of the result. Each part has scratch memory for the rows under its row.
// An activation that is no bounds is a step of its own.
#include "device/cpu/kernels/one_channel/one_channel.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "device/cpu/kernels/bounds.h"
#include "device/cpu/kernels/one_channel/loops.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/steps/parts.h"
#include "tensor/half.h"

namespace millrace::device::cpu::kernels::one_channel {
namespace {

using graph::kNoValue;

// The operands of a Conv.
constexpr size_t kX = 0, kWeight = 1, kBias = 2, kResidual = 3, kSlope = 4;
constexpr int64_t kMostTaps = 7;

bool is_of_one_channel(const Dims& image) {
  return image.size() == 4 && image[1] == 1;
}

bool can_compute(const Builder& builder, const Node& node, const graph::Conv& op) {
  const Dims x = builder.dims(node.input(kX)), y = builder.dims(node.outputs[0]);
  if (!is_of_one_channel(x) || !is_of_one_channel(y) || builder.is_empty(node.input(kX)))
    return false;
  const Dims weight = builder.dims(node.input(kWeight));
  const auto is_one = [](int64_t number) { return number == 1; };
  const auto is_constant = [&](graph::ValueId id) {
    return id == kNoValue || builder.is_constant(id);
  };
  return std::max(weight[2], weight[3]) <= kMostTaps && weight[2] * weight[3] > 1 &&
         std::ranges::all_of(op.strides, is_one) && std::ranges::all_of(op.dilations, is_one) &&
         node.input(kResidual) == kNoValue && node.input(kSlope) == kNoValue &&
         builder.is_constant(node.input(kWeight)) && is_constant(node.input(kBias));
}

Geometry geometry_of(const Dims& x, const Dims& weight, const Dims& y, const graph::Conv& op) {
  return {.height = from_dim(x[2]),
          .width = from_dim(x[3]),
          .out_height = from_dim(y[2]),
          .out_width = from_dim(y[3]),
          .taps_y = from_dim(weight[2]),
          .taps_x = from_dim(weight[3]),
          .above = from_dim(op.pads_begin[0]),
          .left = from_dim(op.pads_begin[1])};
}

// In BF16 filters are stored in that. Activations that are no bounds follow as a step.
Filter filter_of(const Builder& builder, const Node& node, const graph::Conv& op) {
  const Bounds bounds = clamp_bounds(op.activation).value_or(*clamp_bounds(graph::Activation{}));
  Filter filter{builder.constant_floats(node.input(kWeight)), 0, bounds.least, bounds.most};
  if (builder.type() == ElementType::bf16)
    std::ranges::transform(filter.taps, filter.taps.begin(), tensor::nearest_bf16);
  if (node.input(kBias) != kNoValue) filter.bias = builder.constant_floats(node.input(kBias))[0];
  return filter;
}

struct Buffers {
  BufferId x, y, scratch;
};

template <class Number>
class OneChannelStep final : public Step {
 public:
  OneChannelStep(const Geometry& geometry, Filter filter, size_t images, const Buffers& buffers,
                 uint32_t parts)
      : geometry_(geometry),
        filter_(std::move(filter)),
        images_(images),
        buffers_(buffers),
        parts_(parts) {}

  std::vector<BufferId> buffers() const override {
    return {buffers_.x, buffers_.y, buffers_.scratch};
  }

  Status run(const RunState& state) const noexcept override {
    const Geometry& g = geometry_;
    Work<Number> all{state.input<Number>(buffers_.x), state.output<Number>(buffers_.y),
                     state.output<float>(buffers_.scratch), 0, g.out_height};
    for (size_t i = 0; i < images_; ++i) {
      run_parts(state, parts_, [&, this](uint32_t number) {
        const Share rows = share_of(all.rows, number, parts_);
        Work<Number> work = all;
        work.scratch += number * geometry_.scratch_floats();
        work.first_row = rows.first;
        work.rows = rows.count;
        one_channel::run(geometry_, filter_, work);
      });
      all.image += g.height * g.width;
      all.result += g.out_height * g.out_width;
    }
    return {};
  }

 private:
  const Geometry geometry_;
  const Filter filter_;
  const size_t images_;
  const Buffers buffers_;
  const uint32_t parts_;
};

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Conv& op) {
  if (!can_compute(builder, node, op)) return false;
  const Dims dims = builder.dims(node.input(kX)), y = builder.dims(node.outputs[0]);
  const Geometry geometry = geometry_of(dims, builder.dims(node.input(kWeight)), y, op);
  const ElementType type = builder.type();
  MILLRACE_ASSIGN_OR_RETURN(const Operand x,
                            builder.in_layout(node.input(kX), plain_desc(dims, type)));
  const uint32_t parts = std::min<uint32_t>(
      parts_with_scratch(builder.chunks(), geometry.scratch_floats() * sizeof(float)),
      static_cast<uint32_t>(std::min<size_t>(geometry.out_height, queue::Team::kMaxChunks)));
  const auto scratch = static_cast<int64_t>(geometry.scratch_floats() * parts);
  const Operand result = builder.new_result(node.outputs[0], plain_desc(y, type));
  const Buffers buffers{x.buffer, result.buffer,
                        builder.new_temporary(plain_desc({scratch}, ElementType::f32)).buffer};
  const auto images = from_dim(dims[0]);
  Filter filter = filter_of(builder, node, op);
  std::unique_ptr<const Step> step;
  if (type == ElementType::bf16)
    step = std::make_unique<OneChannelStep<uint16_t>>(geometry, std::move(filter), images, buffers,
                                                      parts);
  else
    step = std::make_unique<OneChannelStep<float>>(geometry, std::move(filter), images, buffers,
                                                   parts);
  builder.add("Conv", "millrace:one-channel", std::move(step));
  if (!clamp_bounds(op.activation))
    MILLRACE_RETURN_IF_ERROR(add_unary(builder, op.activation, result, result));
  return true;
}

}  // namespace millrace::device::cpu::kernels::one_channel
