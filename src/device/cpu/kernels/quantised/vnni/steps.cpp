#include "device/cpu/kernels/quantised/vnni/steps.h"

#include <algorithm>

#include "device/cpu/kernels/parts.h"

namespace millrace::device::cpu::kernels::quantised::vnni {
namespace {

// What is computed in parts, all of it.
template <class Layer, class Work>
struct Whole {
  const Layer* layer;
  Work work;
  uint32_t parts;
};

void run_rows(void* data, uint32_t number) {
  const auto& [layer, all, parts] = *static_cast<const Whole<DepthwiseLayer, DepthwiseWork>*>(data);
  const Share rows = share_of(all.rows, number, parts);
  DepthwiseWork work = all;
  work.first_row = rows.first;
  work.rows = rows.count;
  vnni::run(*layer, work);
}

void run_pixels(void* data, uint32_t number) {
  const auto& [layer, all, parts] = *static_cast<const Whole<PointwiseLayer, PointwiseWork>*>(data);
  const Share pixels = share_of(all.pixels, number, parts);
  PointwiseWork work = all;
  work.image += pixels.first * layer->channels_in;
  work.result += pixels.first * layer->channels_out;
  work.pixels = pixels.count;
  vnni::run(*layer, work);
}

uint32_t parts_of(size_t all, uint32_t chunks) {
  return static_cast<uint32_t>(std::min<size_t>(chunks, all));
}

}  // namespace

ScalingView Buffers::scaling(const RunState& state) const {
  return {state.input<int32_t>(starts), state.input<float>(biases), state.input<float>(factors)};
}

DepthwiseStep::DepthwiseStep(const DepthwiseLayer& layer, const Buffers& buffers, BufferId padding,
                             size_t images, uint32_t chunks)
    : layer_(layer),
      buffers_(buffers),
      padding_(padding),
      images_(images),
      parts_(parts_of(layer.geometry.out_height, chunks)) {}

std::vector<BufferId> DepthwiseStep::buffers() const {
  std::vector<BufferId> all = buffers_.all();
  all.push_back(padding_);
  return all;
}

Status DepthwiseStep::run(const RunState& state) const noexcept {
  const kernels::depthwise::Geometry& g = layer_.geometry;
  Whole<DepthwiseLayer, DepthwiseWork> whole{&layer_,
                                             {.image = state.input<uint8_t>(buffers_.x),
                                              .padding = state.input<uint8_t>(padding_),
                                              .filters = state.input<int8_t>(buffers_.filters),
                                              .scaling = buffers_.scaling(state),
                                              .result = state.output<uint8_t>(buffers_.y),
                                              .first_row = 0,
                                              .rows = g.out_height},
                                             parts_};
  for (size_t i = 0; i < images_; ++i) {
    run_parts(state, parts_, run_rows, &whole);
    whole.work.image += g.height * g.width * g.channels;
    whole.work.result += g.out_height * g.out_width * g.channels;
  }
  return {};
}

PointwiseStep::PointwiseStep(const PointwiseLayer& layer, const Buffers& buffers, size_t pixels,
                             uint32_t chunks)
    : layer_(layer), buffers_(buffers), pixels_(pixels), parts_(parts_of(pixels, chunks)) {}

Status PointwiseStep::run(const RunState& state) const noexcept {
  Whole<PointwiseLayer, PointwiseWork> whole{&layer_,
                                             {.image = state.input<uint8_t>(buffers_.x),
                                              .filters = state.input<int8_t>(buffers_.filters),
                                              .scaling = buffers_.scaling(state),
                                              .result = state.output<uint8_t>(buffers_.y),
                                              .pixels = pixels_},
                                             parts_};
  run_parts(state, parts_, run_pixels, &whole);
  return {};
}

}  // namespace millrace::device::cpu::kernels::quantised::vnni
