// The choice among the loops of this folder by shape, and the steps: depthwise with channels
// innermost, depthwise in planes, pointwise, and pointwise followed by depthwise. A residual is
// added by pointwise loops only.
#include "device/cpu/kernels/quantised/vnni/convolution.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>

#include "device/cpu/kernels/depthwise/depthwise.h"
#include "device/cpu/kernels/quantised/vnni/steps.h"
#include "device/cpu/steps/parts.h"

namespace millrace::device::cpu::kernels::quantised::vnni {
namespace {

// Limits within which the loops are faster than oneDNN; outside them they are as fast, or slower
// (docs/performance/quantised.md). A 1x1 (pointwise) convolution must make whole vectors of
// results. All filters are read for every 16 pixels, which takes longer than in oneDNN when they
// fill half of the L2 cache.
constexpr int64_t kMostFilterBytes = int64_t{1} << 19, kLeastPointwiseOut = kWide;
// Another operand is added to whole vectors of results.
constexpr int64_t kAddedMultiple = kWide;
// Depthwise: images lie as they are where they fill vectors, and in planes otherwise.
constexpr int64_t kDepthwiseMultiple = kWide, kPlanarMultiple = kNarrow;
// Both in one step: if planes are needed anyway, or the image between is too large for the cache,
// and if the filters of the first are few enough to be read for each row.
constexpr int64_t kMostSeparableIn = 64, kLargeImage = int64_t{1} << 18;

bool is_depthwise(const Convolution& convolution) {
  return kernels::depthwise::is_depthwise(*convolution.op, convolution.x, convolution.weight);
}

bool suits_depthwise(const Convolution& convolution) {
  return is_depthwise(convolution) && convolution.x[1] % kDepthwiseMultiple == 0 &&
         convolution.y[3] >= static_cast<int64_t>(kWindowsAtOnce);
}

bool suits_planar(const Convolution& convolution) {
  return is_depthwise(convolution) && convolution.x[1] % kPlanarMultiple == 0 &&
         convolution.y[3] >= static_cast<int64_t>(kPlaneWindowsAtOnce);
}

bool suits_pointwise(const Convolution& convolution) {
  const int64_t in = convolution.x[1], out = convolution.y[1];
  return is_pointwise(convolution) && in % static_cast<int64_t>(kWordBytes) == 0 &&
         in * out <= kMostFilterBytes && out >= kLeastPointwiseOut;
}

bool suits_separable(const Convolution& pointwise, const Convolution& depthwise) {
  const Dims& between = depthwise.x;
  return suits_pointwise(pointwise) && suits_planar(depthwise) &&
         pointwise.x[1] <= kMostSeparableIn &&
         (between[1] % kDepthwiseMultiple != 0 ||
          between[1] * between[2] * between[3] >= kLargeImage);
}

PointwiseLayer pointwise_layer(const Convolution& convolution, const Encoding& encoding) {
  return {static_cast<size_t>(convolution.x[1]), static_cast<size_t>(convolution.y[1]), encoding};
}

// Only 1x1 (pointwise) convolutions add another operand to their results.
std::optional<Layer> layer_with(const Convolution& convolution, const ResidualRule& residual) {
  if (!suits_pointwise(convolution) || convolution.y[1] % kAddedMultiple != 0) return std::nullopt;
  const auto encoding = encoding_of(convolution);
  const auto addition = addition_of(convolution, residual);
  if (!encoding || !addition) return std::nullopt;
  PointwiseLayer layer = pointwise_layer(convolution, *encoding);
  layer.addition = addition;
  return layer;
}

DepthwiseLayer depthwise_layer(const Convolution& convolution, const Encoding& encoding) {
  return {kernels::depthwise::geometry_of(*convolution.op, convolution.x, convolution.y), encoding};
}

PlanarLayer planar_layer(const std::optional<PointwiseLayer>& pointwise,
                         const Convolution& depthwise, const Encoding& encoding) {
  return {pointwise, depthwise_layer(depthwise, encoding),
          static_cast<uint8_t>(depthwise.x_zero_point)};
}

size_t images_of(const Convolution& convolution) {
  return static_cast<size_t>(convolution.x[0]);
}

// The loops multiply bytes of INT8 as UINT8.
Scaling shifted_scaling_of(const Convolution& convolution, const Encoding& encoding) {
  return scaling_of(convolution, encoding, encoding.signed_image ? kSignedShift : 0);
}

ConstantBuffers add_pointwise_constants(Builder& builder, const PointwiseLayer& layer,
                                        const Convolution& convolution) {
  return add_constants(builder, arranged_pointwise(layer, convolution.weights->elements),
                       arranged(shifted_scaling_of(convolution, layer.encoding)));
}

void add(Builder& builder, const DepthwiseLayer& layer, const Convolution& convolution,
         const ImageBuffers& images) {
  const size_t channels = layer.geometry.channels;
  const std::vector<uint8_t> padding(kernels::depthwise::kPaddingPixels * channels,
                                     static_cast<uint8_t>(convolution.x_zero_point));
  const ConstantBuffers constants =
      add_constants(builder, arranged_depthwise(channels, convolution.weights->elements),
                    arranged(shifted_scaling_of(convolution, layer.encoding)));
  builder.add(
      "Conv", "millrace:depthwise",
      std::make_unique<DepthwiseStep>(layer, images, constants, add_constant(builder, padding),
                                      images_of(convolution), builder.chunks()));
}

void add(Builder& builder, const PointwiseLayer& layer, const Convolution& convolution,
         const ImageBuffers& images) {
  const Dims& y = convolution.y;
  const auto bytes = std::accumulate(y.begin(), y.end(), int64_t{1}, std::multiplies<>());
  builder.add("Conv", "millrace:pointwise",
              std::make_unique<PointwiseStep>(
                  layer, images, add_pointwise_constants(builder, layer, convolution),
                  static_cast<size_t>(bytes) / layer.channels_out, builder.chunks()));
}

// Adds the depthwise convolution, whose image is x, or the result of the pointwise one on x.
void add(Builder& builder, const PlanarLayer& layer, const Convolution& depthwise,
         const ImageBuffers& images, const std::optional<ConstantBuffers>& pointwise) {
  const size_t bytes = layer.scratch_bytes(), rows = layer.depthwise.geometry.out_height;
  const uint32_t parts =
      std::min(parts_with_scratch(builder.chunks(), bytes), static_cast<uint32_t>(rows));
  const Desc scratch = plain_desc({static_cast<int64_t>(bytes * parts)}, ElementType::u8);
  const size_t channels = layer.depthwise.geometry.channels;
  const PlanarStep::Buffers buffers{
      .images = images,
      .pointwise = pointwise,
      .depthwise = add_constants(
          builder, arranged_in_planes(channels, depthwise.weights->elements),
          arranged_in_planes(shifted_scaling_of(depthwise, layer.depthwise.encoding))),
      .scratch = builder.new_temporary(scratch).buffer};
  builder.add("Conv", pointwise ? "millrace:separable" : "millrace:depthwise",
              std::make_unique<PlanarStep>(layer, buffers, images_of(depthwise), parts));
}

void add(Builder& builder, const PlanarLayer& layer, const Convolution& convolution,
         const ImageBuffers& images) {
  add(builder, layer, convolution, images, std::nullopt);
}

}  // namespace

std::optional<Layer> layer_of(const Convolution& convolution,
                              const std::optional<ResidualRule>& residual) {
  if (residual) return layer_with(convolution, *residual);
  const bool depthwise = suits_depthwise(convolution), planar = suits_planar(convolution);
  if (!depthwise && !planar && !suits_pointwise(convolution)) return std::nullopt;
  const auto encoding = encoding_of(convolution);
  if (!encoding) return std::nullopt;
  if (depthwise) return depthwise_layer(convolution, *encoding);
  if (planar) return planar_layer(std::nullopt, convolution, *encoding);
  return pointwise_layer(convolution, *encoding);
}

void add_step(Builder& builder, const Layer& layer, const Convolution& convolution,
              const ImageBuffers& images) {
  std::visit([&](const auto& kind) { add(builder, kind, convolution, images); }, layer);
}

std::optional<PlanarLayer> layer_of(const Convolution& pointwise, const Convolution& depthwise) {
  if (!suits_separable(pointwise, depthwise)) return std::nullopt;
  const auto first = encoding_of(pointwise), second = encoding_of(depthwise);
  if (!first || !second) return std::nullopt;
  return planar_layer(pointwise_layer(pointwise, *first), depthwise, *second);
}

void add_step(Builder& builder, const PlanarLayer& layer, const Convolution& pointwise,
              const Convolution& depthwise, const ImageBuffers& images) {
  add(builder, layer, depthwise, images,
      add_pointwise_constants(builder, *layer.pointwise, pointwise));
}

}  // namespace millrace::device::cpu::kernels::quantised::vnni
