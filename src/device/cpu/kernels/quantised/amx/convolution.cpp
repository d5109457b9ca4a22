#include "device/cpu/kernels/quantised/amx/convolution.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "device/cpu/steps/parts.h"

namespace millrace::device::cpu::kernels::quantised::amx {
namespace {

using vnni::ConstantBuffers;
using vnni::Convolution;
using vnni::ImageBuffers;

size_t pixels_of(const Convolution& convolution) {
  return static_cast<size_t>(convolution.x[0] * convolution.x[2] * convolution.x[3]);
}

// Dense products by tiles lower the clock of the core for the better part of a millisecond, which
// in a small network takes more time than the loops save (docs/performance/quantised.md).
constexpr size_t kLeastProducts = 25'000'000;

bool suits(const Convolution& convolution) {
  if (convolution.x.size() != 4 || !vnni::is_pointwise(convolution)) return false;
  const auto in = static_cast<size_t>(convolution.x[1]),
             out = static_cast<size_t>(convolution.y[1]);
  const size_t pixels = pixels_of(convolution);
  return in % kTileRowBytes == 0 && out % vnni::kWide == 0 && pixels >= kTileRows &&
         pixels * in * out >= kLeastProducts && may_use_tiles();
}

// Computes all pixels of a batch. It is divided by pixels, or by groups of channels if the filters
// are larger than the image.
class PointwiseStep final : public Step {
 public:
  PointwiseStep(const PointwiseLayer& layer, const ImageBuffers& images,
                const ConstantBuffers& constants, size_t pixels, uint32_t chunks)
      : layer_(layer),
        images_(images),
        constants_(constants),
        pixels_(pixels),
        by_pixels_(pixels >= layer.channels_out),
        parts_(static_cast<uint32_t>(
            std::min<size_t>(chunks, by_pixels_ ? pixels / kTileRows : layer.groups()))) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> all;
    images_.append_to(all);
    constants_.append_to(all);
    return all;
  }

  Status run(const RunState& state) const noexcept override {
    const PointwiseWork all{.image = state.input<uint8_t>(images_.x),
                            .filters = state.input<int8_t>(constants_.filters),
                            .scaling = constants_.scaling(state),
                            .residual = images_.residual_bytes(state),
                            .result = state.output<uint8_t>(images_.y),
                            .pixels = pixels_,
                            .first_pixel = 0,
                            .pixel_count = pixels_,
                            .first_group = 0,
                            .group_count = layer_.groups()};
    run_parts(state, parts_, [&, this](uint32_t number) {
      amx::run(layer_, by_pixels_ ? pixels_of(all, number) : groups_of(all, number));
    });
    return {};
  }

 private:
  PointwiseWork pixels_of(PointwiseWork work, uint32_t number) const noexcept {
    const size_t tiles = (pixels_ + kTileRows - 1) / kTileRows;
    const Share share = share_of(tiles, number, parts_);
    work.first_pixel = share.first * kTileRows;
    work.pixel_count = std::min(share.count * kTileRows, pixels_ - work.first_pixel);
    return work;
  }

  PointwiseWork groups_of(PointwiseWork work, uint32_t number) const noexcept {
    const Share share = share_of(layer_.groups(), number, parts_);
    work.first_group = share.first;
    work.group_count = share.count;
    return work;
  }

  const PointwiseLayer layer_;
  const ImageBuffers images_;
  const ConstantBuffers constants_;
  const size_t pixels_;
  const bool by_pixels_;
  const uint32_t parts_;
};

}  // namespace

std::optional<PointwiseLayer> layer_of(const Convolution& convolution,
                                       const std::optional<vnni::ResidualRule>& residual) {
  if (!suits(convolution)) return std::nullopt;
  const auto encoding = vnni::encoding_of(convolution);
  if (!encoding) return std::nullopt;
  PointwiseLayer layer{static_cast<size_t>(convolution.x[1]), static_cast<size_t>(convolution.y[1]),
                       *encoding, std::nullopt};
  if (!residual) return layer;
  layer.addition = vnni::addition_of(convolution, *residual);
  return layer.addition ? std::optional(layer) : std::nullopt;
}

void add_step(Builder& builder, const PointwiseLayer& layer, const Convolution& convolution,
              const ImageBuffers& images) {
  const ConstantBuffers constants =
      vnni::add_constants(builder, arranged(layer, convolution.weights->elements),
                          vnni::arranged(vnni::scaling_of(convolution, layer.encoding, 0)));
  builder.add("Conv", "millrace:pointwise-amx",
              std::make_unique<PointwiseStep>(layer, images, constants, pixels_of(convolution),
                                              builder.chunks()));
}

}  // namespace millrace::device::cpu::kernels::quantised::amx
