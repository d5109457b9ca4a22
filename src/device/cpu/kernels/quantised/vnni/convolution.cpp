#include "device/cpu/kernels/quantised/vnni/convolution.h"

#include <hwy/detect_targets.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <span>

#include "device/cpu/kernels/bounds.h"
#include "device/cpu/kernels/parts.h"
#include "device/cpu/kernels/quantised/vnni/steps.h"

namespace millrace::device::cpu::kernels::quantised::vnni {
namespace {

// Where the loops are faster than the library; elsewhere they are not, or are slower
// (docs/performance.md has the measurements). Of one pixel: where whole vectors of results can be
// made, of filters that stay in the cache.
constexpr int64_t kMostPointwiseIn = 1024, kLeastPointwiseOut = kWide;
// Depthwise: images lie as they are where they fill vectors, and in planes otherwise.
constexpr int64_t kDepthwiseMultiple = kWide, kPlanarMultiple = kNarrow;
// Both as one: where planes are needed anyway, or the image between is too large for the cache; and
// the filters of the first are few enough to be read for each row.
constexpr int64_t kMostSeparableIn = 64, kLargeImage = int64_t{1} << 18;

constexpr int32_t kSignedShift = 128;  // from INT8 to UINT8

// A compiler that may use more than AVX-512 everywhere leaves out the target of the loops.
constexpr bool kHasLoops = (HWY_TARGETS & HWY_AVX3) != 0;

std::span<const int8_t> filter_of(const Convolution& convolution, size_t channel) {
  const std::span<const int8_t> all = convolution.weights->elements;
  const size_t size = all.size() / convolution.factors.size();
  return all.subspan(channel * size, size);
}

// What the zero point and, of INT8, the shift of the image add to the sums of a channel is taken
// away.
int32_t start_of(const Convolution& convolution, size_t channel) {
  const int32_t shift = convolution.x_type == ElementType::s8 ? kSignedShift : 0;
  int32_t sum = 0;
  for (const int8_t weight : filter_of(convolution, channel)) sum += weight;
  return -sum * (convolution.x_zero_point + shift);
}

// What the magnitude of a sum of products of a channel, with its start and its bias, is at most.
double bound_of_sum(const Convolution& convolution, size_t channel) {
  constexpr int32_t kLargestByte = 255;
  double sum = std::abs(double{convolution.biases[channel]}) +
               std::abs(static_cast<double>(start_of(convolution, channel)));
  for (const int8_t weight : filter_of(convolution, channel))
    sum += kLargestByte * std::abs(int32_t{weight});
  return sum;
}

// The loops convert scaled sums to 32 bits before they saturate them.
bool scaled_sums_fit(const Convolution& convolution) {
  constexpr double kMost = 1 << 30;
  for (size_t i = 0; i < convolution.factors.size(); ++i)
    if (!(bound_of_sum(convolution, i) * std::abs(double{convolution.factors[i]}) < kMost))
      return false;
  return true;
}

// Whether biases are integers, and FP32 has the sums with them: then it does not matter whether
// they are added before a sum becomes a number of FP32, as part of its start, or behind.
bool starts_can_have_biases(const Convolution& convolution) {
  for (size_t i = 0; i < convolution.biases.size(); ++i)
    if (convolution.biases[i] != std::trunc(convolution.biases[i]) ||
        !(bound_of_sum(convolution, i) <= kLargestExactSum))
      return false;
  return true;
}

// A bound of results, in steps, as the byte that it is rounded to.
uint8_t byte_at(float bound, int32_t zero_point) {
  constexpr float kLargest = 255;
  const float byte = std::nearbyint(bound) + static_cast<float>(zero_point);
  return static_cast<uint8_t>(std::clamp(byte, 0.0F, kLargest));
}

// Nothing where what is stored are no bytes, or not between bounds.
std::optional<Encoding> encoding_of(const Convolution& convolution) {
  const ResultRule& result = convolution.result;
  const auto bounds = bounds_of(convolution.op->activation);
  if (!kHasLoops || !bounds || std::isnan(bounds->least) || std::isnan(bounds->most) ||
      result.type == ElementType::f32 || !scaled_sums_fit(convolution))
    return std::nullopt;
  const bool is_signed = result.type == ElementType::s8;
  const int32_t zero_point = result.rule.zero_point + (is_signed ? kSignedShift : 0);
  return Encoding{
      .signed_image = convolution.x_type == ElementType::s8,
      .requantisation = {.to_signed = is_signed,
                         .zero_point = static_cast<int16_t>(zero_point),
                         .least = byte_at(bounds->least / result.rule.scale, zero_point),
                         .most = byte_at(bounds->most / result.rule.scale, zero_point)},
      .adds_biases = !starts_can_have_biases(convolution)};
}

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
  const graph::Conv& op = *convolution.op;
  const auto all_are = [](const Dims& dims, int64_t number) {
    return std::ranges::all_of(dims, [=](int64_t dim) { return dim == number; });
  };
  const Dims taps(convolution.weight.begin() + 2, convolution.weight.end());
  const int64_t in = convolution.x[1];
  return op.group == 1 && all_are(taps, 1) && all_are(op.strides, 1) && all_are(op.pads_begin, 0) &&
         all_are(op.pads_end, 0) && in % static_cast<int64_t>(kWordBytes) == 0 &&
         in <= kMostPointwiseIn && convolution.y[1] >= kLeastPointwiseOut;
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

Scaling scaling_of(const Convolution& convolution, const Encoding& encoding) {
  Scaling scaling{{}, convolution.biases, convolution.factors};
  for (size_t i = 0; i < scaling.factors.size(); ++i) {
    scaling.starts.push_back(start_of(convolution, i));
    if (encoding.adds_biases) continue;
    scaling.starts[i] += static_cast<int32_t>(scaling.biases[i]);
    scaling.biases[i] = 0;
  }
  return scaling;
}

template <class T>
BufferId add_constant(Builder& builder, ElementType type, const std::vector<T>& elements) {
  const Desc desc = plain_desc({static_cast<int64_t>(elements.size())}, type);
  return builder.add_constant(elements.data(), desc, desc).buffer;
}

// Both arranged.
ConstantBuffers add_constants(Builder& builder, const std::vector<int8_t>& filters,
                              const Scaling& scaling) {
  return {.filters = add_constant(builder, ElementType::s8, filters),
          .starts = add_constant(builder, ElementType::s32, scaling.starts),
          .biases = add_constant(builder, ElementType::f32, scaling.biases),
          .factors = add_constant(builder, ElementType::f32, scaling.factors)};
}

ConstantBuffers add_constants(Builder& builder, const PointwiseLayer& layer,
                              const Convolution& convolution) {
  return add_constants(builder, arranged_pointwise(layer, convolution.weights->elements),
                       arranged(scaling_of(convolution, layer.encoding)));
}

void add(Builder& builder, const DepthwiseLayer& layer, const Convolution& convolution,
         const ImageBuffers& images) {
  const size_t channels = layer.geometry.channels;
  const std::vector<uint8_t> padding(kernels::depthwise::kPaddingPixels * channels,
                                     static_cast<uint8_t>(convolution.x_zero_point));
  const ConstantBuffers constants =
      add_constants(builder, arranged_depthwise(channels, convolution.weights->elements),
                    arranged(scaling_of(convolution, layer.encoding)));
  builder.add("Conv", "millrace:depthwise",
              std::make_unique<DepthwiseStep>(layer, images, constants,
                                              add_constant(builder, ElementType::u8, padding),
                                              images_of(convolution), builder.chunks()));
}

void add(Builder& builder, const PointwiseLayer& layer, const Convolution& convolution,
         const ImageBuffers& images) {
  const Dims& y = convolution.y;
  const auto bytes = std::accumulate(y.begin(), y.end(), int64_t{1}, std::multiplies<>());
  builder.add("Conv", "millrace:pointwise",
              std::make_unique<PointwiseStep>(
                  layer, images, add_constants(builder, layer, convolution),
                  static_cast<size_t>(bytes) / layer.channels_out, builder.chunks()));
}

// Of the depthwise convolution, whose image is x, or what the other makes of x.
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
      .depthwise =
          add_constants(builder, arranged_in_planes(channels, depthwise.weights->elements),
                        arranged_in_planes(scaling_of(depthwise, layer.depthwise.encoding))),
      .scratch = builder.new_temporary(scratch).buffer};
  builder.add("Conv", pointwise ? "millrace:separable" : "millrace:depthwise",
              std::make_unique<PlanarStep>(layer, buffers, images_of(depthwise), parts));
}

void add(Builder& builder, const PlanarLayer& layer, const Convolution& convolution,
         const ImageBuffers& images) {
  add(builder, layer, convolution, images, std::nullopt);
}

}  // namespace

std::optional<Layer> layer_of(const Convolution& convolution) {
  const bool depthwise = suits_depthwise(convolution), planar = suits_planar(convolution);
  if (!depthwise && !planar && !suits_pointwise(convolution)) return std::nullopt;
  const auto encoding = encoding_of(convolution);
  if (!encoding) return std::nullopt;
  if (depthwise) return depthwise_layer(convolution, *encoding);
  if (planar) return planar_layer(std::nullopt, convolution, *encoding);
  return pointwise_layer(convolution, *encoding);
}

void add_step(Builder& builder, const Layer& layer, const Convolution& convolution, BufferId x,
              BufferId y) {
  std::visit([&](const auto& kind) { add(builder, kind, convolution, ImageBuffers{x, y}); }, layer);
}

std::optional<PlanarLayer> layer_of(const Convolution& pointwise, const Convolution& depthwise) {
  if (!suits_separable(pointwise, depthwise)) return std::nullopt;
  const auto first = encoding_of(pointwise), second = encoding_of(depthwise);
  if (!first || !second) return std::nullopt;
  return planar_layer(pointwise_layer(pointwise, *first), depthwise, *second);
}

void add_step(Builder& builder, const PlanarLayer& layer, const Convolution& pointwise,
              const Convolution& depthwise, BufferId x, BufferId y) {
  add(builder, layer, depthwise, {x, y}, add_constants(builder, *layer.pointwise, pointwise));
}

}  // namespace millrace::device::cpu::kernels::quantised::vnni
