// The step of a depthwise convolution, divided by rows of the result, and the arrangement of its
// filters. NaNs among biases lose their payload, so that rounding to BF16 cannot carry into their
// exponent (loops.cpp).
#include "device/cpu/kernels/depthwise/depthwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "device/cpu/kernels/bounds.h"
#include "device/cpu/kernels/depthwise/loops.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/steps/parts.h"
#include "tensor/half.h"

namespace millrace::device::cpu::kernels::depthwise {
namespace {

using graph::kNoValue;

// The operands of a Conv.
constexpr size_t kX = 0, kWeight = 1, kBias = 2;

bool has_constants(const Builder& builder, const Node& node) {
  return builder.is_constant(node.input(kWeight)) &&
         (node.input(kBias) == kNoValue || builder.is_constant(node.input(kBias)));
}

Layer layer_of(const Convolution& convolution) {
  const graph::Conv& op = *convolution.op;
  const Geometry geometry = geometry_of(op, convolution.x, convolution.y);
  const Bounds bounds = *clamp_bounds(op.activation);
  return {geometry, groups_of(geometry.channels), bounds.least, bounds.most};
}

struct Buffers {
  BufferId x, y, filters, zeros;
  std::optional<BufferId> bias;
};

// Runs one image, divided into at most `chunks` parts, on the lanes that help the job. `work` is
// the whole image.
void run_divided(const RunState& state, const Layer& layer, uint32_t chunks,
                 const Work& work) noexcept {
  const size_t rows = layer.geometry.out_height;
  const auto parts = static_cast<uint32_t>(std::min<size_t>(chunks, rows));
  run_parts(state, parts, [&](uint32_t number) {
    const Share share = share_of(rows, number, parts);
    Work part = work;
    part.first_row = share.first;
    part.rows = share.count;
    depthwise::run(layer, part);
  });
}

class DepthwiseStep final : public Step {
 public:
  DepthwiseStep(const Layer& layer, size_t images, const Buffers& buffers, uint32_t chunks)
      : layer_(layer), images_(images), buffers_(buffers), chunks_(chunks) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> all = {buffers_.x, buffers_.y, buffers_.filters, buffers_.zeros};
    if (buffers_.bias) all.push_back(*buffers_.bias);
    return all;
  }

  Status run(const RunState& state) const noexcept override {
    const Geometry& g = layer_.geometry;
    Work work{state.input<uint16_t>(buffers_.x),
              state.input<uint16_t>(buffers_.zeros),
              state.input<float>(buffers_.filters),
              buffers_.bias ? state.input<float>(*buffers_.bias) : nullptr,
              state.output<uint16_t>(buffers_.y),
              0,
              g.out_height};
    for (size_t i = 0; i < images_; ++i) {
      run_divided(state, layer_, chunks_, work);
      work.image += g.height * g.width * g.channels;
      work.result += g.out_height * g.out_width * g.channels;
    }
    return {};
  }

 private:
  const Layer layer_;
  const size_t images_;
  const Buffers buffers_;
  const uint32_t chunks_;
};

// Clears the lower bits of a NaN, which a bias in FP32 may have.
float without_payload(float number) {
  return std::isnan(number) ? std::numeric_limits<float>::quiet_NaN() : number;
}

// Returns the arrangement of `each` elements per channel, to which `make` is applied first.
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

bool can_compute(const Convolution& convolution) {
  const graph::Conv& op = *convolution.op;
  // The filter of a convolution in groups has those split off.
  constexpr size_t kRank = 5;
  if (convolution.type != ElementType::bf16 || convolution.weight.size() != kRank) return false;
  const Dims& split = convolution.weight;
  const Dims weight = {split[0] * split[1], split[2], split[3], split[4]};
  return !convolution.has_residual && !convolution.has_slope && clamp_bounds(op.activation) &&
         is_depthwise(op, convolution.x, weight) &&
         groups_of(static_cast<size_t>(op.group)).size != 0;
}

uint64_t time(const Convolution& convolution, const Stopwatch& stopwatch) {
  const Layer layer = layer_of(convolution);
  constexpr size_t kAllTaps = kTaps * kTaps;
  const size_t channels = layer.groups.count() * layer.groups.size;
  const auto zeros_count = static_cast<int64_t>(kPaddingPixels * layer.geometry.channels);
  const auto image_of_one = [&](Dims dims) {
    dims[0] = 1;
    return stopwatch.filled(channels_last_desc(dims, convolution.type));
  };
  const dnnl::memory image = image_of_one(convolution.x), result = image_of_one(convolution.y),
                     zeros = stopwatch.filled(plain_desc({zeros_count}, ElementType::bf16)),
                     filters = stopwatch.floats(kAllTaps * channels),
                     bias = stopwatch.floats(channels);
  const Work work{elements_of<uint16_t>(image),  elements_of<uint16_t>(zeros),
                  elements_of(filters),          elements_of(bias),
                  elements_of<uint16_t>(result), 0,
                  layer.geometry.out_height};
  const RunState state = stopwatch.state();
  const auto images = static_cast<uint64_t>(convolution.x[0]);
  return images * stopwatch.time([&] { run_divided(state, layer, stopwatch.threads(), work); });
}

Result<bool> lower(Builder& builder, const Node& node, const graph::Conv& op) {
  const Convolution convolution(builder.model().graph, node, op, builder.type());
  if (!is_innermost(builder.form()) || !can_compute(convolution) || !has_constants(builder, node))
    return false;
  MILLRACE_ASSIGN_OR_RETURN(
      const Operand x,
      builder.in_layout(node.input(kX), channels_last_desc(convolution.x, convolution.type)));
  const Layer layer = layer_of(convolution);
  const Groups& groups = layer.groups;
  Buffers buffers{};
  buffers.x = x.buffer;
  buffers.filters = builder.arranged(node.input(kWeight),
                                     arrangement_of(groups, kTaps * kTaps, tensor::nearest_bf16));
  if (node.input(kBias) != kNoValue)
    buffers.bias = builder.arranged(node.input(kBias), arrangement_of(groups, 1, without_payload));
  const std::vector<float> zeros(kPaddingPixels * groups.channels);
  const Desc zeros_desc = plain_desc({static_cast<int64_t>(zeros.size())}, ElementType::bf16);
  buffers.zeros = builder.add_constant(zeros_desc, zeros).buffer;
  buffers.y =
      builder.new_result(node.outputs[0], channels_last_desc(convolution.y, convolution.type))
          .buffer;
  builder.add("Conv", kName,
              std::make_unique<DepthwiseStep>(layer, static_cast<size_t>(convolution.x[0]), buffers,
                                              builder.chunks()));
  return true;
}

}  // namespace millrace::device::cpu::kernels::depthwise
