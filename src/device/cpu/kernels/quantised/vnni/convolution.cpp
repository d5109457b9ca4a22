#include "device/cpu/kernels/quantised/vnni/convolution.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <span>

#include "device/cpu/kernels/bounds.h"
#include "device/cpu/kernels/quantised/vnni/steps.h"

namespace millrace::device::cpu::kernels::quantised::vnni {
namespace {

// Where the loops are faster than the library; elsewhere they are not, or are slower
// (docs/performance.md has the measurements). Depthwise: where vectors are full and pixels begin
// with a line of the cache. Of one pixel: where few products are made for each byte that is stored.
constexpr int64_t kDepthwiseMultiple = kWide;
constexpr int64_t kMostPointwiseIn = 1024, kLeastPointwiseOut = kWide;

constexpr int32_t kSignedShift = 128;  // from INT8 to UINT8

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
  if (!bounds || std::isnan(bounds->least) || std::isnan(bounds->most) ||
      result.type == ElementType::f32 || !scaled_sums_fit(convolution))
    return std::nullopt;
  const bool is_signed = result.type == ElementType::s8;
  const int32_t zero_point = result.rule.zero_point + (is_signed ? kSignedShift : 0);
  return Encoding{.signed_image = convolution.x_type == ElementType::s8,
                  .storing = {.to_signed = is_signed,
                              .zero_point = static_cast<int16_t>(zero_point),
                              .least = byte_at(bounds->least / result.rule.scale, zero_point),
                              .most = byte_at(bounds->most / result.rule.scale, zero_point)},
                  .adds_biases = !starts_can_have_biases(convolution)};
}

bool suits_depthwise(const Convolution& convolution) {
  return kernels::depthwise::is_depthwise(*convolution.op, convolution.x, convolution.weight) &&
         convolution.x[1] % kDepthwiseMultiple == 0 &&
         convolution.y[3] >= static_cast<int64_t>(kLeastColumns);
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

// As both kinds of layers are added to a program.
class Adding {
 public:
  Adding(Builder& builder, const Convolution& convolution, BufferId x, BufferId y)
      : builder_(builder), convolution_(convolution), x_(x), y_(y) {}

  void operator()(const DepthwiseLayer& layer) {
    const size_t channels = layer.geometry.channels;
    const std::vector<uint8_t> padding(kernels::depthwise::kPaddingPixels * channels,
                                       static_cast<uint8_t>(convolution_.x_zero_point));
    const Buffers buffers = add_constants(layer.encoding, arranged_depthwise(channels, elements()));
    builder_.add(
        "Conv", "millrace:depthwise",
        std::make_unique<DepthwiseStep>(layer, buffers, add(ElementType::u8, padding),
                                        static_cast<size_t>(convolution_.x[0]), builder_.chunks()));
  }

  void operator()(const PointwiseLayer& layer) {
    const Buffers buffers = add_constants(layer.encoding, arranged_pointwise(layer, elements()));
    const Dims& y = convolution_.y;
    const auto bytes = std::accumulate(y.begin(), y.end(), int64_t{1}, std::multiplies<>());
    const size_t pixels = static_cast<size_t>(bytes) / layer.channels_out;
    builder_.add("Conv", "millrace:pointwise",
                 std::make_unique<PointwiseStep>(layer, buffers, pixels, builder_.chunks()));
  }

 private:
  const std::vector<int8_t>& elements() const { return convolution_.weights->elements; }

  Buffers add_constants(const Encoding& encoding, const std::vector<int8_t>& filters) {
    Scaling scaling{{}, convolution_.biases, convolution_.factors};
    for (size_t i = 0; i < scaling.factors.size(); ++i) {
      scaling.starts.push_back(start_of(convolution_, i));
      if (encoding.adds_biases) continue;
      scaling.starts[i] += static_cast<int32_t>(scaling.biases[i]);
      scaling.biases[i] = 0;
    }
    scaling = arranged(scaling);
    return {.x = x_,
            .y = y_,
            .filters = add(ElementType::s8, filters),
            .starts = add(ElementType::s32, scaling.starts),
            .biases = add(ElementType::f32, scaling.biases),
            .factors = add(ElementType::f32, scaling.factors)};
  }

  template <class T>
  BufferId add(ElementType type, const std::vector<T>& elements) {
    const Desc desc = plain_desc({static_cast<int64_t>(elements.size())}, type);
    return builder_.add_constant(elements.data(), desc, desc).buffer;
  }

  Builder& builder_;
  const Convolution& convolution_;
  const BufferId x_, y_;
};

}  // namespace

std::optional<Layer> layer_of(const Convolution& convolution) {
  const bool is_depthwise = suits_depthwise(convolution);
  if (!is_depthwise && !suits_pointwise(convolution)) return std::nullopt;
  const auto encoding = encoding_of(convolution);
  if (!encoding) return std::nullopt;
  if (is_depthwise)
    return DepthwiseLayer{
        kernels::depthwise::geometry_of(*convolution.op, convolution.x, convolution.y), *encoding};
  return PointwiseLayer{static_cast<size_t>(convolution.x[1]),
                        static_cast<size_t>(convolution.y[1]), *encoding};
}

void add_step(Builder& builder, const Layer& layer, const Convolution& convolution, BufferId x,
              BufferId y) {
  std::visit(Adding(builder, convolution, x, y), layer);
}

}  // namespace millrace::device::cpu::kernels::quantised::vnni
