#include "device/cpu/kernels/depthwise/depthwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device/cpu/kernels/bounds.h"
#include "device/cpu/kernels/depthwise/loops.h"
#include "device/cpu/kernels/parts.h"
#include "device/cpu/kernels/primitives.h"
#include "tensor/half.h"

namespace millrace::device::cpu::kernels::depthwise {
namespace {

using graph::kNoValue;

// The operands of a Conv.
constexpr size_t kX = 0, kWeight = 1, kBias = 2, kResidual = 3, kSlope = 4;

// Whether images lie with their channels innermost in this form.
bool is_innermost(plan::Form form) {
  return form == plan::Form::kLibrary || form == plan::Form::kChannelsLast;
}

bool can_compute(const Builder& builder, const Node& node, const graph::Conv& op) {
  return builder.type() == ElementType::bf16 && is_innermost(builder.form()) &&
         node.input(kResidual) == kNoValue && node.input(kSlope) == kNoValue &&
         bounds_of(op.activation) && builder.is_constant(node.input(kWeight)) &&
         (node.input(kBias) == kNoValue || builder.is_constant(node.input(kBias))) &&
         is_depthwise(op, builder.dims(node.input(kX)), builder.dims(node.input(kWeight))) &&
         groups_of(static_cast<size_t>(op.group)).size != 0;
}

struct Buffers {
  BufferId x, y, filters, zeros;
  std::optional<BufferId> bias;
};

class DepthwiseStep final : public Step {
 public:
  DepthwiseStep(const Layer& layer, size_t images, const Buffers& buffers, uint32_t chunks)
      : layer_(layer),
        images_(images),
        buffers_(buffers),
        parts_(static_cast<uint32_t>(std::min<size_t>(chunks, layer.geometry.out_height))) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> all = {buffers_.x, buffers_.y, buffers_.filters, buffers_.zeros};
    if (buffers_.bias) all.push_back(*buffers_.bias);
    return all;
  }

  Status run(const RunState& state) const noexcept override {
    const Geometry& g = layer_.geometry;
    Whole whole{this,
                {state.input<uint16_t>(buffers_.x), state.input<uint16_t>(buffers_.zeros),
                 state.input<float>(buffers_.filters),
                 buffers_.bias ? state.input<float>(*buffers_.bias) : nullptr,
                 state.output<uint16_t>(buffers_.y), 0, 0}};
    for (size_t i = 0; i < images_; ++i) {
      run_parts(state, parts_, run_part, &whole);
      whole.work.image += g.height * g.width * g.channels;
      whole.work.result += g.out_height * g.out_width * g.channels;
    }
    return {};
  }

 private:
  struct Whole {
    const DepthwiseStep* step;
    Work work;
  };

  static void run_part(void* data, uint32_t number) {
    const auto& [step, all] = *static_cast<const Whole*>(data);
    const Share share = share_of(step->layer_.geometry.out_height, number, step->parts_);
    Work work = all;
    work.first_row = share.first;
    work.rows = share.count;
    depthwise::run(step->layer_, work);
  }

  const Layer layer_;
  const size_t images_;
  const Buffers buffers_;
  const uint32_t parts_;
};

// Biases are numbers of FP32; what is not one keeps no more bits than a BF16 number has.
float without_payload(float number) {
  return std::isnan(number) ? std::numeric_limits<float>::quiet_NaN() : number;
}

float as_bf16(float number) {
  return tensor::bf16_to_float(tensor::float_to_bf16(number));
}

// `each` numbers per channel, made of those of the model.
Arrangement arrangement_of(const Groups& groups, size_t each, float (*make)(float)) {
  return {fmt::format("depthwise {} by {}, {} at once", each, groups.channels, groups.size),
          groups.count() * groups.size * each * sizeof(float),
          [groups, each, make](const float* from, std::byte* to) {
            std::vector<float> numbers(groups.channels * each);
            std::transform(from, from + numbers.size(), numbers.begin(), make);
            arrange(groups, each, numbers.data(), reinterpret_cast<float*>(to));
          }};
}

}  // namespace

bool is_depthwise(const graph::Conv& op, const Dims& x, const Dims& weight) {
  const auto are = [](const Dims& dims, int64_t number) {
    return std::ranges::all_of(dims, [number](int64_t dim) { return dim == number; });
  };
  constexpr auto kTapsOfAxis = static_cast<int64_t>(kTaps);
  return x.size() == 4 && op.group == x[1] && op.group == weight[0] && weight[1] == 1 &&
         weight[2] == kTapsOfAxis && weight[3] == kTapsOfAxis &&
         (are(op.strides, 1) || are(op.strides, 2)) && are(op.dilations, 1) &&
         std::ranges::all_of(op.pads_begin, [](int64_t pad) { return pad <= 1; });
}

Geometry geometry_of(const graph::Conv& op, const Dims& x, const Dims& y) {
  const auto size = [](int64_t dim) { return static_cast<size_t>(dim); };
  return {.channels = size(x[1]),
          .height = size(x[2]),
          .width = size(x[3]),
          .out_height = size(y[2]),
          .out_width = size(y[3]),
          .stride = size(op.strides[0]),
          .above = size(op.pads_begin[0]),
          .left = size(op.pads_begin[1])};
}

Result<bool> lower(Builder& builder, const Node& node, const graph::Conv& op) {
  if (!can_compute(builder, node, op)) return false;
  const Dims x_dims = builder.dims(node.input(kX)), y_dims = builder.dims(node.outputs[0]);
  const auto layout = [](const Dims& dims) {
    return ordered_desc(dims, ElementType::bf16, kChannelsInnermost);
  };
  MILLRACE_ASSIGN_OR_RETURN(const Operand x, builder.in_layout(node.input(kX), layout(x_dims)));
  const Geometry geometry = geometry_of(op, x_dims, y_dims);
  const Groups groups = groups_of(geometry.channels);
  const Bounds bounds = *bounds_of(op.activation);
  Buffers buffers{};
  buffers.x = x.buffer;
  buffers.filters =
      builder.arranged(node.input(kWeight), arrangement_of(groups, kTaps * kTaps, as_bf16));
  if (node.input(kBias) != kNoValue)
    buffers.bias = builder.arranged(node.input(kBias), arrangement_of(groups, 1, without_payload));
  const std::vector<float> zeros(kPaddingPixels * geometry.channels);
  const Desc zeros_desc = plain_desc({static_cast<int64_t>(zeros.size())}, ElementType::bf16);
  buffers.zeros = builder.add_constant(zeros_desc, zeros).buffer;
  buffers.y = builder.new_result(node.outputs[0], layout(y_dims)).buffer;
  builder.add(
      "Conv", "millrace:depthwise",
      std::make_unique<DepthwiseStep>(Layer{geometry, groups, bounds.least, bounds.most},
                                      static_cast<size_t>(x_dims[0]), buffers, builder.chunks()));
  return true;
}

}  // namespace millrace::device::cpu::kernels::depthwise
