// The steps bind buffers and divide the loops among lanes: by rows of the result, or by pixels.
#include "device/cpu/kernels/quantised/vnni/steps.h"

#include <algorithm>

#include "device/cpu/steps/parts.h"

namespace millrace::device::cpu::kernels::quantised::vnni {
namespace {

// Returns the part of the rows of a result with that number.
template <class Work>
Work rows_of(const Work& all, uint32_t number, uint32_t parts) {
  const Share rows = share_of(all.rows, number, parts);
  Work work = all;
  work.first_row = rows.first;
  work.rows = rows.count;
  return work;
}

// Returns the part of the pixels of a batch with that number.
PointwiseWork pixels_of(const PointwiseLayer& layer, PointwiseWork work, uint32_t number,
                        uint32_t parts) {
  const Share pixels = share_of(work.pixels, number, parts);
  work.image += pixels.first * layer.channels_in;
  if (work.residual != nullptr) work.residual += pixels.first * layer.channels_out;
  work.result += pixels.first * layer.channels_out;
  work.pixels = pixels.count;
  return work;
}

uint32_t parts_of(size_t all, uint32_t chunks) {
  return static_cast<uint32_t>(std::min<size_t>(chunks, all));
}

// Runs `part(work, number)` for all parts of each image of a batch; `work` is that of the first
// one.
template <class Work, class Part>
void run_images(const RunState& state, const kernels::depthwise::Geometry& g, size_t count,
                size_t channels_in, uint32_t parts, Work work, const Part& part) {
  for (size_t i = 0; i < count; ++i) {
    run_parts(state, parts, [&](uint32_t number) { part(work, number); });
    work.image += g.height * g.width * channels_in;
    work.result += g.out_height * g.out_width * g.channels;
  }
}

}  // namespace

DepthwiseStep::DepthwiseStep(const DepthwiseLayer& layer, const ImageBuffers& images,
                             const ConstantBuffers& constants, BufferId padding, size_t count,
                             uint32_t chunks)
    : layer_(layer),
      images_(images),
      constants_(constants),
      padding_(padding),
      count_(count),
      parts_(parts_of(layer.geometry.out_height, chunks)) {}

std::vector<BufferId> DepthwiseStep::buffers() const {
  std::vector<BufferId> all = {padding_};
  images_.append_to(all);
  constants_.append_to(all);
  return all;
}

Status DepthwiseStep::run(const RunState& state) const noexcept {
  const kernels::depthwise::Geometry& g = layer_.geometry;
  const DepthwiseWork work{.image = state.input<uint8_t>(images_.x),
                           .padding = state.input<uint8_t>(padding_),
                           .filters = state.input<int8_t>(constants_.filters),
                           .scaling = constants_.scaling(state),
                           .result = state.output<uint8_t>(images_.y),
                           .first_row = 0,
                           .rows = g.out_height};
  run_images(state, g, count_, g.channels, parts_, work,
             [this](const DepthwiseWork& image, uint32_t number) {
               vnni::run(layer_, rows_of(image, number, parts_));
             });
  return {};
}

PointwiseStep::PointwiseStep(const PointwiseLayer& layer, const ImageBuffers& images,
                             const ConstantBuffers& constants, size_t pixels, uint32_t chunks)
    : layer_(layer),
      images_(images),
      constants_(constants),
      pixels_(pixels),
      parts_(parts_of(pixels, chunks)) {}

std::vector<BufferId> PointwiseStep::buffers() const {
  std::vector<BufferId> all;
  images_.append_to(all);
  constants_.append_to(all);
  return all;
}

Status PointwiseStep::run(const RunState& state) const noexcept {
  const PointwiseWork work{.image = state.input<uint8_t>(images_.x),
                           .filters = state.input<int8_t>(constants_.filters),
                           .scaling = constants_.scaling(state),
                           .residual = images_.residual_bytes(state),
                           .result = state.output<uint8_t>(images_.y),
                           .pixels = pixels_};
  run_parts(state, parts_, [&, this](uint32_t number) {
    vnni::run(layer_, pixels_of(layer_, work, number, parts_));
  });
  return {};
}

PlanarStep::PlanarStep(const PlanarLayer& layer, const Buffers& buffers, size_t count,
                       uint32_t parts)
    : layer_(layer), buffers_(buffers), count_(count), parts_(parts) {}

std::vector<BufferId> PlanarStep::buffers() const {
  std::vector<BufferId> all = {buffers_.scratch};
  buffers_.images.append_to(all);
  if (buffers_.pointwise) buffers_.pointwise->append_to(all);
  buffers_.depthwise.append_to(all);
  return all;
}

Status PlanarStep::run(const RunState& state) const noexcept {
  const kernels::depthwise::Geometry& g = layer_.depthwise.geometry;
  const auto constants = [&state](const ConstantBuffers& buffers) -> PlanarWork::Constants {
    return {state.input<int8_t>(buffers.filters), buffers.scaling(state)};
  };
  const PlanarWork work{
      .image = state.input<uint8_t>(buffers_.images.x),
      .pointwise = buffers_.pointwise ? constants(*buffers_.pointwise) : PlanarWork::Constants{},
      .depthwise = constants(buffers_.depthwise),
      .result = state.output<uint8_t>(buffers_.images.y),
      .scratch = state.output<uint8_t>(buffers_.scratch),
      .first_row = 0,
      .rows = g.out_height};
  run_images(state, g, count_, layer_.channels_in(), parts_, work,
             [this](const PlanarWork& image, uint32_t number) {
               PlanarWork part = rows_of(image, number, parts_);
               part.scratch += number * layer_.scratch_bytes();
               vnni::run(layer_, part);
             });
  return {};
}

}  // namespace millrace::device::cpu::kernels::quantised::vnni
