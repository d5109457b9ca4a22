#include "device/cpu/kernels/separable/separable.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "device/cpu/kernels/bounds.h"
#include "device/cpu/kernels/depthwise/window.h"
#include "device/cpu/kernels/parts.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels::separable {
namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

// An image between of less than that stays in the cache, and the library's kernels are as fast.
constexpr int64_t kLeastElements = int64_t{1} << 16;
// Filters of more are read from further away for each row.
constexpr int64_t kMostChannels = 128;
// An image of fewer channels takes up room for more.
constexpr int64_t kLeastChannels = 8;

size_t from_dim(int64_t dim) {
  return static_cast<size_t>(dim);
}

bool are(const Dims& dims, int64_t number) {
  return std::ranges::all_of(dims, [number](int64_t dim) { return dim == number; });
}

// Whether the Conv has images of numbers, constants, and nothing else.
bool is_simple(const graph::Graph& graph, const Node& node, const graph::Conv& op) {
  const auto value = [&graph](ValueId id) -> const graph::Value& { return graph.values[id]; };
  const bool has_numbers = std::ranges::all_of(node.inputs, [&](ValueId id) {
    return id == kNoValue || (tensor::fits_float32(value(id).type) && !value(id).quantisation);
  });
  const graph::Value& y = value(node.outputs[0]);
  return has_numbers && node.input(3) == kNoValue && node.input(4) == kNoValue &&
         bounds_of(op.activation) && !y.quantisation && y.elements() > 0 &&
         value(node.input(1)).constant && value(node.input(0)).shape.size() == 4;
}

bool is_pointwise(const graph::Graph& graph, const Node& node) {
  const auto* const op = std::get_if<graph::Conv>(&node.op);
  if (op == nullptr || !is_simple(graph, node, *op) || op->group != 1) return false;
  const Dims& weight = graph.values[node.input(1)].shape;
  return weight[2] == 1 && weight[3] == 1 && are(op->strides, 1) && are(op->pads_begin, 0) &&
         are(op->pads_end, 0) && weight[0] % channel_block() == 0;
}

bool is_depthwise(const graph::Graph& graph, const Node& node) {
  const auto* const op = std::get_if<graph::Conv>(&node.op);
  return op != nullptr && is_simple(graph, node, *op) &&
         depthwise::is_depthwise(*op, graph.values[node.input(0)].shape,
                                 graph.values[node.input(1)].shape);
}

bool is_output(const graph::CompiledModel& model, ValueId id) {
  return std::ranges::any_of(model.outputs,
                             [id](const graph::Boundary& output) { return output.value == id; });
}

// The depthwise Conv behind the node, which alone reads its result; `readers` do.
std::optional<uint32_t> partner_among(const graph::CompiledModel& model, const Node& node,
                                      std::span<const uint32_t> readers) {
  const graph::Graph& graph = model.graph;
  if (channel_block() != static_cast<int>(vector_block()) || !is_pointwise(graph, node))
    return std::nullopt;
  const ValueId y = node.outputs[0];
  if (is_output(model, y) || readers.size() != 1) return std::nullopt;
  const Node& next = graph.nodes[readers[0]];
  if (!is_depthwise(graph, next) || next.input(0) != y || next.precision != node.precision)
    return std::nullopt;
  return readers[0];
}

Geometry geometry_of(const Dims& x, const Dims& y, const graph::Conv& depthwise) {
  const size_t block = vector_block();
  return {.block = block,
          .channels_in = from_dim(x[1]),
          .blocks_out = from_dim(y[1]) / block,
          .height = from_dim(x[2]),
          .width = from_dim(x[3]),
          .out_height = from_dim(y[2]),
          .out_width = from_dim(y[3]),
          .stride = from_dim(depthwise.strides[0]),
          .above = from_dim(depthwise.pads_begin[0]),
          .left = from_dim(depthwise.pads_begin[1])};
}

// Of one of the two convolutions.
struct LayerBuffers {
  BufferId filters;
  std::optional<BufferId> bias;
  Bounds bounds;

  Layer layer(const RunState& state) const noexcept {
    return {state.input<float>(filters), bias ? state.input<float>(*bias) : nullptr, bounds.least,
            bounds.most};
  }
};

struct Buffers {
  BufferId x, y, scratch;
  LayerBuffers pointwise, depthwise;
};

struct Whole {
  const Geometry* geometry;
  Layer pointwise, depthwise;
  Work work;
  uint32_t parts;
};

void run_part(void* data, uint32_t number) {
  const auto& [geometry, pointwise, depthwise, all, parts] = *static_cast<const Whole*>(data);
  const Share share = share_of(geometry->out_height, number, parts);
  Work work = all;
  work.scratch += number * geometry->scratch_floats();
  work.first_row = share.first;
  work.rows = share.count;
  separable::run(*geometry, pointwise, depthwise, work);
}

class SeparableStep final : public Step {
 public:
  SeparableStep(const Geometry& geometry, size_t images, const Buffers& buffers, uint32_t chunks)
      : geometry_(geometry), images_(images), buffers_(buffers), chunks_(chunks) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> all = {buffers_.x, buffers_.y, buffers_.scratch};
    for (const LayerBuffers* layer : {&buffers_.pointwise, &buffers_.depthwise}) {
      all.push_back(layer->filters);
      if (layer->bias) all.push_back(*layer->bias);
    }
    return all;
  }

  Status run(const RunState& state) const noexcept override {
    const Geometry& g = geometry_;
    const size_t blocks_in = (g.channels_in + g.block - 1) / g.block;
    const size_t image = g.height * g.width * blocks_in * g.block;
    const size_t result = g.out_height * g.out_width * g.blocks_out * g.block;
    Work work{state.input<float>(buffers_.x), state.output<float>(buffers_.y),
              state.output<float>(buffers_.scratch), 0, g.out_height};
    for (size_t i = 0; i < images_; ++i) {
      run_divided(state, g, buffers_.pointwise.layer(state), buffers_.depthwise.layer(state),
                  chunks_, work);
      work.image += image;
      work.result += result;
    }
    return {};
  }

 private:
  const Geometry geometry_;
  const size_t images_;
  const Buffers buffers_;
  const uint32_t chunks_;
};

// From [result channels, channels].
void arrange_pointwise(const Geometry& g, const float* from, float* to) {
  for (size_t panel = 0; panel < g.panels(); ++panel) {
    const size_t first = g.first_block(panel) * g.block, end = g.first_block(panel + 1) * g.block;
    for (size_t in = 0; in < g.channels_in; ++in)
      for (size_t out = first; out < end; ++out) *to++ = from[out * g.channels_in + in];
  }
}

// From [channels, taps].
void arrange_depthwise(const Geometry& g, const float* from, float* to) {
  constexpr size_t kAll = kTaps * kTaps;
  for (size_t channel = 0; channel < g.blocks_out * g.block; ++channel)
    for (size_t tap = 0; tap < kAll; ++tap)
      to[channel / g.block * kAll * g.block + tap * g.block + channel % g.block] =
          from[channel * kAll + tap];
}

class Lowering {
 public:
  Lowering(Builder& builder, const Node& first, const Node& second)
      : builder_(builder),
        first_(first),
        second_(second),
        geometry_(geometry_of(builder.dims(first.input(0)), builder.dims(second.outputs[0]),
                              std::get<graph::Conv>(second.op))) {}

  Status lower() {
    const Dims x = builder_.dims(first_.input(0)), y = builder_.dims(second_.outputs[0]);
    MILLRACE_ASSIGN_OR_RETURN(const Operand from,
                              builder_.in_layout(first_.input(0), image_layout(x)));
    Buffers buffers{};
    MILLRACE_ASSIGN_OR_RETURN(buffers.pointwise,
                              layer(first_, "pointwise", arrange_pointwise, geometry_.channels_in));
    MILLRACE_ASSIGN_OR_RETURN(buffers.depthwise,
                              layer(second_, "depthwise", arrange_depthwise, kTaps * kTaps));
    const uint32_t chunks = parts_with_scratch(geometry_, builder_.chunks());
    const auto floats = static_cast<int64_t>(geometry_.scratch_floats() * chunks);
    buffers.x = from.buffer;
    buffers.y = builder_.new_result(second_.outputs[0], image_layout(y)).buffer;
    buffers.scratch = builder_.new_temporary(plain_desc({floats}, ElementType::f32)).buffer;
    builder_.add("Conv", "millrace:separable",
                 std::make_unique<SeparableStep>(geometry_, from_dim(x[0]), buffers, chunks));
    return {};
  }

 private:
  using Arrange = void (*)(const Geometry&, const float*, float*);

  Desc image_layout(const Dims& dims) const {
    return blocked_desc(dims, ElementType::f32, static_cast<int>(geometry_.block));
  }

  // `each` is the number of weights for each channel of the result.
  Result<LayerBuffers> layer(const Node& node, const char* name, Arrange arrange, size_t each) {
    const size_t channels = geometry_.blocks_out * geometry_.block;
    LayerBuffers buffers{};
    buffers.filters = builder_.arranged(
        node.input(1), {fmt::format("{} {} by {}, blocks of {}, {} at once", name, each, channels,
                                    geometry_.block, kPanelBlocks),
                        each * channels * sizeof(float),
                        [geometry = geometry_, arrange](const float* from, std::byte* to) {
                          arrange(geometry, from, reinterpret_cast<float*>(to));
                        }});
    if (const ValueId id = node.input(2); id != kNoValue) {
      const Desc plain = plain_desc(builder_.dims(id), ElementType::f32);
      MILLRACE_ASSIGN_OR_RETURN(const Operand bias, builder_.packed(id, plain));
      buffers.bias = bias.buffer;
    }
    buffers.bounds = *bounds_of(std::get<graph::Conv>(node.op).activation);
    return buffers;
  }

  Builder& builder_;
  const Node &first_, &second_;
  const Geometry geometry_;
};

}  // namespace

std::optional<uint32_t> partner_of(const graph::CompiledModel& model, const Readers& readers,
                                   const graph::Partition& partition, uint32_t pointwise) {
  const Node& node = model.graph.nodes[pointwise];
  const auto partner = partner_among(model, node, readers[node.outputs[0]]);
  const bool comes_later =
      partner && *partner > pointwise && *partner < partition.first + partition.count;
  return comes_later ? partner : std::nullopt;
}

bool is_worthwhile(const graph::Graph& graph, const Node& pointwise) {
  const int64_t channels = graph.values[pointwise.input(0)].shape[1];
  const Dims& y = graph.values[pointwise.outputs[0]].shape;
  return channels >= kLeastChannels && channels <= kMostChannels &&
         y[1] * y[2] * y[3] >= kLeastElements;
}

Geometry geometry_of(const Convolution& pointwise, const Convolution& depthwise) {
  return geometry_of(pointwise.x, depthwise.y, *depthwise.op);
}

uint32_t parts_with_scratch(const Geometry& geometry, uint32_t chunks) {
  return kernels::parts_with_scratch(chunks, geometry.scratch_floats() * sizeof(float));
}

void run_divided(const RunState& state, const Geometry& geometry, const Layer& pointwise,
                 const Layer& depthwise, uint32_t chunks, const Work& work) noexcept {
  Whole whole{&geometry, pointwise, depthwise, work,
              static_cast<uint32_t>(std::min<size_t>(chunks, geometry.out_height))};
  run_parts(state, whole.parts, run_part, &whole);
}

bool postpone(Builder& builder, const Node& node) {
  if (builder.form() != plan::Form::kSeparable || builder.type() != ElementType::f32) return false;
  const auto partner = partner_among(builder.model(), node, builder.readers(node.outputs[0]));
  if (!partner || !builder.comes_later(*partner)) return false;
  builder.postpone(*partner);
  return true;
}

Result<bool> lower_with_postponed(Builder& builder, const Node& node) {
  const Node* const first = builder.postponed_maker(node.input(0));
  if (first == nullptr) return false;
  MILLRACE_RETURN_IF_ERROR(Lowering(builder, *first, node).lower());
  return true;
}

}  // namespace millrace::device::cpu::kernels::separable
