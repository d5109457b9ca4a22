// The step of a pair: the arrangement of both filters, the division among lanes by rows or by
// panels of channels, and the measurement of its time. A part of a row range computes the rows of
// the intermediate image that it needs, so that neighbours compute the rows at their border twice.
#include "device/cpu/kernels/separable/separable.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "device/cpu/kernels/bounds.h"
#include "device/cpu/kernels/depthwise/depthwise.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/separable/bf16_loops.h"
#include "device/cpu/kernels/separable/loops.h"
#include "device/cpu/kernels/separable/pairs.h"
#include "device/cpu/steps/parts.h"
#include "tensor/half.h"

namespace millrace::device::cpu::kernels::separable {
namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

Geometry geometry_of(ElementType type, const Dims& x, const Dims& y, const graph::Conv& depthwise) {
  const size_t block = vector_block();
  const Geometry geometry{.block = block,
                          .channels_in = from_dim(x[1]),
                          .blocks_out = from_dim(y[1]) / block,
                          .height = from_dim(x[2]),
                          .width = from_dim(x[3]),
                          .out_height = from_dim(y[2]),
                          .out_width = from_dim(y[3]),
                          .stride = from_dim(depthwise.strides[0]),
                          .above = from_dim(depthwise.pads_begin[0]),
                          .left = from_dim(depthwise.pads_begin[1])};
  return type == ElementType::bf16 ? arranged(geometry, bf16_products()) : geometry;
}

// Returns the geometry of one image of the batch, in the type that the pointwise Conv computes in.
Geometry geometry_of(const Convolution& pointwise, const Convolution& depthwise) {
  return geometry_of(pointwise.type, pointwise.x, depthwise.y, *depthwise.op);
}

// Returns the layout of the image or of the result, with these dimensions.
Desc image_layout(const Geometry& geometry, ElementType type, const Dims& dims) {
  return geometry.channels_innermost ? channels_last_desc(dims, type)
                                     : blocked_desc(dims, type, static_cast<int>(geometry.block));
}

// Returns the number of parts, at most `chunks`, that a step is divided into. Each has its own
// scratch memory.
uint32_t parts_with_scratch(const Geometry& geometry, uint32_t chunks) {
  return cpu::parts_with_scratch(chunks, geometry.scratch_floats() * sizeof(float));
}

// The constants of one of the two convolutions. T is the type of its filters.
struct LayerBuffers {
  BufferId filters;
  std::optional<BufferId> bias;
  Bounds bounds;

  template <class T>
  LayerOf<T> layer(const RunState& state) const noexcept {
    return {state.input<T>(filters), bias ? state.input<float>(*bias) : nullptr, bounds.least,
            bounds.most};
  }
};

struct Buffers {
  BufferId x, y, scratch;
  LayerBuffers pointwise, depthwise;
};

// Returns the number of panels or rows that are divided into parts.
size_t divided(const Geometry& geometry) {
  return geometry.divides_panels ? geometry.panels() : geometry.out_height;
}

// Returns the part with that number.
template <class T>
WorkOf<T> part_of(const Geometry& geometry, WorkOf<T> work, uint32_t number, uint32_t parts) {
  const Share share = share_of(divided(geometry), number, parts);
  work.scratch += number * geometry.scratch_floats();
  if (geometry.divides_panels) {
    work.first_panel = share.first;
    work.panels = share.count;
  } else {
    work.first_row = share.first;
    work.rows = share.count;
  }
  return work;
}

// Runs one image, of FP32 or of BF16 (uint16_t), with the lanes that help the job. `work` is all of
// it, and its scratch is that of `chunks` parts.
template <class T>
void run_divided(const RunState& state, const Geometry& geometry, const LayerOf<T>& pointwise,
                 const Layer& depthwise, uint32_t chunks, const WorkOf<T>& work) noexcept {
  const auto parts = static_cast<uint32_t>(std::min<size_t>(chunks, divided(geometry)));
  run_parts(state, parts, [&](uint32_t number) {
    separable::run(geometry, pointwise, depthwise, part_of(geometry, work, number, parts));
  });
}
template <class T>
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
    WorkOf<T> work{state.input<T>(buffers_.x), state.output<T>(buffers_.y),
                   state.output<float>(buffers_.scratch), 0, geometry_.out_height};
    for (size_t i = 0; i < images_; ++i) {
      run_divided(state, geometry_, buffers_.pointwise.layer<T>(state),
                  buffers_.depthwise.layer<float>(state), chunks_, work);
      work.image += geometry_.image_elements();
      work.result += geometry_.result_elements();
    }
    return {};
  }

 private:
  const Geometry geometry_;
  const size_t images_;
  const Buffers buffers_;
  const uint32_t chunks_;
};

// Arranges [result channels, channels] as [panels][channels][result channels of the panel].
void arrange_pointwise(const Geometry& g, const float* from, float* to) {
  for (size_t panel = 0; panel < g.panels(); ++panel) {
    const size_t first = g.first_block(panel) * g.block, end = g.first_block(panel + 1) * g.block;
    for (size_t in = 0; in < g.channels_in; ++in)
      for (size_t out = first; out < end; ++out) *to++ = from[out * g.channels_in + in];
  }
}

// Arranges [channels, taps] as [blocks][taps][block].
void arrange_depthwise(const Geometry& g, const float* from, float* to) {
  constexpr size_t kAll = kTaps * kTaps;
  for (size_t channel = 0; channel < g.blocks_out * g.block; ++channel)
    for (size_t tap = 0; tap < kAll; ++tap)
      to[channel / g.block * kAll * g.block + tap * g.block + channel % g.block] =
          from[channel * kAll + tap];
}

// Arranges the filters and rounds them to BF16.
void arrange_rounded_depthwise(const Geometry& g, const float* from, float* to) {
  arrange_depthwise(g, from, to);
  const size_t count = g.channels_out() * kTaps * kTaps;
  std::transform(to, to + count, to, tensor::nearest_bf16);
}

class Lowering {
 public:
  Lowering(Builder& builder, const Node& first, const Node& second)
      : builder_(builder),
        first_(first),
        second_(second),
        geometry_(geometry_of(builder.type(), builder.dims(first.input(0)),
                              builder.dims(second.outputs[0]), std::get<graph::Conv>(second.op))) {}

  Status lower() {
    if (builder_.type() == ElementType::f32)
      return lower<float>({"pointwise", arrange_pointwise}, {"depthwise", arrange_depthwise});
    return lower<uint16_t>({"pointwise pairs", arrange},
                           {"depthwise BF16", arrange_rounded_depthwise});
  }

 private:
  // How the filters of the model are arranged for the loops.
  template <class T>
  struct Filters {
    const char* name;
    void (*arrange)(const Geometry&, const float*, T*);
  };

  template <class T>
  Status lower(const Filters<T>& pointwise, const Filters<float>& depthwise) {
    const Dims x = builder_.dims(first_.input(0)), y = builder_.dims(second_.outputs[0]);
    MILLRACE_ASSIGN_OR_RETURN(const Operand from,
                              builder_.in_layout(first_.input(0), layout_of(x)));
    Buffers buffers{};
    MILLRACE_ASSIGN_OR_RETURN(buffers.pointwise, layer(first_, pointwise, geometry_.channels_in));
    MILLRACE_ASSIGN_OR_RETURN(buffers.depthwise, layer(second_, depthwise, kTaps * kTaps));
    const uint32_t chunks = parts_with_scratch(geometry_, builder_.chunks());
    const auto floats = static_cast<int64_t>(geometry_.scratch_floats() * chunks);
    buffers.x = from.buffer;
    buffers.y = builder_.new_result(second_.outputs[0], layout_of(y)).buffer;
    buffers.scratch = builder_.new_temporary(plain_desc({floats}, ElementType::f32)).buffer;
    builder_.add("Conv", kName,
                 std::make_unique<SeparableStep<T>>(geometry_, from_dim(x[0]), buffers, chunks));
    return {};
  }

  Desc layout_of(const Dims& dims) const { return image_layout(geometry_, builder_.type(), dims); }

  // `each` is the number of weights for each channel of the result.
  template <class T>
  Result<LayerBuffers> layer(const Node& node, const Filters<T>& filters, size_t each) {
    const size_t channels = geometry_.blocks_out * geometry_.block;
    LayerBuffers buffers{};
    buffers.filters = builder_.arranged(
        node.input(1), {fmt::format("{} {} by {}, blocks of {}, {} at once", filters.name, each,
                                    channels, geometry_.block, geometry_.panel_blocks),
                        each * channels * sizeof(T),
                        [geometry = geometry_, filters](const float* from, std::byte* to) {
                          filters.arrange(geometry, from, reinterpret_cast<T*>(to));
                        }});
    if (const ValueId id = node.input(2); id != kNoValue) {
      const Desc plain = plain_desc(builder_.dims(id), ElementType::f32);
      MILLRACE_ASSIGN_OR_RETURN(const Operand bias, builder_.packed(id, plain));
      buffers.bias = bias.buffer;
    }
    buffers.bounds = *clamp_bounds(std::get<graph::Conv>(node.op).activation);
    return buffers;
  }

  Builder& builder_;
  const Node &first_, &second_;
  const Geometry geometry_;
};

// Times the step on one image of elements T.
template <class T>
uint64_t time_one(const Geometry& g, const Stopwatch& stopwatch) {
  const uint32_t chunks = parts_with_scratch(g, stopwatch.threads());
  constexpr size_t kAllTaps = kTaps * kTaps;
  constexpr ElementType kType = sizeof(T) == sizeof(float) ? ElementType::f32 : ElementType::bf16;
  const auto filled = [&](size_t count) {
    return stopwatch.filled(plain_desc({static_cast<int64_t>(count)}, kType));
  };
  const dnnl::memory image = filled(g.image_elements()), result = filled(g.result_elements()),
                     filters = filled(g.channels_in * g.channels_out()),
                     taps = stopwatch.floats(kAllTaps * g.channels_out()),
                     bias = stopwatch.floats(g.channels_out()),
                     scratch = stopwatch.floats(g.scratch_floats() * chunks);
  const LayerOf<T> first{elements_of<T>(filters), elements_of(bias), 0, 1};
  const Layer second{elements_of(taps), elements_of(bias), 0, 1};
  const WorkOf<T> work{elements_of<T>(image), elements_of<T>(result), elements_of(scratch), 0,
                       g.out_height};
  const RunState state = stopwatch.state();
  return stopwatch.time([&] { run_divided(state, g, first, second, chunks, work); });
}

}  // namespace

Desc image_layout(const Convolution& pointwise, const Convolution& depthwise) {
  return image_layout(geometry_of(pointwise, depthwise), pointwise.type, pointwise.x);
}

uint64_t time(const Convolution& pointwise, const Convolution& depthwise,
              const Stopwatch& stopwatch) {
  const Geometry g = geometry_of(pointwise, depthwise);
  const auto images = static_cast<uint64_t>(pointwise.x[0]);
  return images * (pointwise.type == ElementType::bf16 ? time_one<uint16_t>(g, stopwatch)
                                                       : time_one<float>(g, stopwatch));
}

Result<bool> lower(Builder& builder, const Node& node, const graph::Conv&) {
  if (postpone(builder, node)) return true;
  const Node* const first = builder.postponed_maker(node.input(0));
  if (first == nullptr) return false;
  MILLRACE_RETURN_IF_ERROR(Lowering(builder, *first, node).lower());
  return true;
}

}  // namespace millrace::device::cpu::kernels::separable
