// The algebra behind the constants: with an image byte x, its zero point z and a weight w, a sum of
// products is sum((x - z) * w) = sum(x * w) - z * sum(w). So sums start at -z * sum(w); VPDPBUSD
// takes unsigned bytes, so a signed image is shifted by 128, and so is z. Biases that are integers
// are added to the start, too.
#include "device/cpu/kernels/quantised/vnni/constants.h"

#include <hwy/detect_targets.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "device/cpu/kernels/bounds.h"

namespace millrace::device::cpu::kernels::quantised::vnni {
namespace {

// A compiler that may use more than AVX-512 everywhere leaves out the target of the loops.
constexpr bool kHasLoops = (HWY_TARGETS & HWY_AVX3) != 0;

std::span<const int8_t> filter_of(const Convolution& convolution, size_t channel) {
  const std::span<const int8_t> all = convolution.weights->elements;
  const size_t size = all.size() / convolution.factors.size();
  return all.subspan(channel * size, size);
}

// The start of the sums subtracts what the zero point and the shift of the image add to them.
int32_t start_of(const Convolution& convolution, size_t channel, int32_t image_shift) {
  int32_t sum = 0;
  for (const int8_t weight : filter_of(convolution, channel)) sum += weight;
  return -sum * (convolution.x_zero_point + image_shift);
}

// An upper bound for the magnitude of a sum of products, with its start and its bias, of a channel.
double bound_of_sum(const Convolution& convolution, size_t channel) {
  constexpr int32_t kLargestByte = 255;
  const int32_t shift = convolution.x_type == ElementType::s8 ? kSignedShift : 0;
  double sum = std::abs(double{convolution.biases[channel]}) +
               std::abs(static_cast<double>(start_of(convolution, channel, shift)));
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

// Whether biases are integers, and FP32 represents the sums with them exactly: then the bias can be
// a part of the start of the sum, instead of being added after the conversion to FP32.
bool starts_can_have_biases(const Convolution& convolution) {
  for (size_t i = 0; i < convolution.biases.size(); ++i)
    if (convolution.biases[i] != std::trunc(convolution.biases[i]) ||
        !(bound_of_sum(convolution, i) <= kLargestExactSum))
      return false;
  return true;
}

// Returns the zero point of unsigned bytes, which the loops compute with.
int16_t shifted(int32_t zero_point, bool is_signed) {
  return static_cast<int16_t>(zero_point + (is_signed ? kSignedShift : 0));
}

// Returns a bound of the results, in units of their scale, as a byte.
uint8_t byte_at(float bound, int32_t zero_point) {
  constexpr float kLargest = 255;
  const float byte = std::nearbyint(bound) + static_cast<float>(zero_point);
  return static_cast<uint8_t>(std::clamp(byte, 0.0F, kLargest));
}

template <class T>
BufferId add_elements(Builder& builder, ElementType type, const std::vector<T>& elements) {
  const Desc desc = plain_desc({static_cast<int64_t>(elements.size())}, type);
  return builder.add_constant(elements.data(), desc, desc).buffer;
}

}  // namespace

bool is_pointwise(const Convolution& convolution) {
  const graph::Conv& op = *convolution.op;
  const auto all_are = [](const Dims& dims, int64_t number) {
    return std::ranges::all_of(dims, [=](int64_t dim) { return dim == number; });
  };
  const Dims taps(convolution.weight.begin() + 2, convolution.weight.end());
  return op.group == 1 && all_are(taps, 1) && all_are(op.strides, 1) && all_are(op.pads_begin, 0) &&
         all_are(op.pads_end, 0);
}

std::optional<Encoding> encoding_of(const Convolution& convolution) {
  const ResultRule& result = convolution.result;
  const auto bounds = clamp_bounds(convolution.op->activation);
  if (!kHasLoops || !bounds || std::isnan(bounds->least) || std::isnan(bounds->most) ||
      result.type == ElementType::f32 || !scaled_sums_fit(convolution))
    return std::nullopt;
  const bool is_signed = result.type == ElementType::s8;
  const int16_t zero_point = shifted(result.rule.zero_point, is_signed);
  return Encoding{
      .signed_image = convolution.x_type == ElementType::s8,
      .requantisation = {.to_signed = is_signed,
                         .zero_point = zero_point,
                         .least = byte_at(bounds->least / result.rule.scale, zero_point),
                         .most = byte_at(bounds->most / result.rule.scale, zero_point)},
      .adds_biases = !starts_can_have_biases(convolution)};
}

std::optional<Addition> addition_of(const Convolution& convolution, const ResidualRule& residual) {
  const bool signed_residual = residual.type == ElementType::s8;
  const bool signed_sum = residual.sum.type == ElementType::s8;
  const float scale = residual.sum.rule.scale;
  const Addition addition{
      .result_scale = convolution.result.rule.scale / scale,
      .residual_scale = residual.rule.scale / scale,
      .signed_residual = signed_residual,
      .residual_zero_point = shifted(residual.rule.zero_point, signed_residual),
      .requantisation = {.to_signed = signed_sum,
                         .zero_point = shifted(residual.sum.rule.zero_point, signed_sum),
                         .least = 0,
                         .most = 255}};
  constexpr float kLargestByte = 255, kMost = 0x1p30F;
  const float most = kLargestByte * (addition.result_scale + addition.residual_scale);
  return residual.sum.type != ElementType::f32 && most < kMost ? std::optional(addition)
                                                               : std::nullopt;
}

Scaling scaling_of(const Convolution& convolution, const Encoding& encoding, int32_t image_shift) {
  Scaling scaling{{}, convolution.biases, convolution.factors};
  for (size_t i = 0; i < scaling.factors.size(); ++i) {
    scaling.starts.push_back(start_of(convolution, i, image_shift));
    if (encoding.adds_biases) continue;
    scaling.starts[i] += static_cast<int32_t>(scaling.biases[i]);
    scaling.biases[i] = 0;
  }
  return scaling;
}

const uint8_t* ImageBuffers::residual_bytes(const RunState& state) const {
  return residual ? state.input<uint8_t>(*residual) : nullptr;
}

void ImageBuffers::append_to(std::vector<BufferId>& buffers) const {
  buffers.insert(buffers.end(), {x, y});
  if (residual) buffers.push_back(*residual);
}

ScalingView ConstantBuffers::scaling(const RunState& state) const {
  return {state.input<int32_t>(starts), state.input<float>(biases), state.input<float>(factors)};
}

void ConstantBuffers::append_to(std::vector<BufferId>& buffers) const {
  buffers.insert(buffers.end(), {filters, starts, biases, factors});
}

BufferId add_constant(Builder& builder, const std::vector<uint8_t>& elements) {
  return add_elements(builder, ElementType::u8, elements);
}

ConstantBuffers add_constants(Builder& builder, const std::vector<int8_t>& filters,
                              const Scaling& scaling) {
  return {.filters = add_elements(builder, ElementType::s8, filters),
          .starts = add_elements(builder, ElementType::s32, scaling.starts),
          .biases = add_elements(builder, ElementType::f32, scaling.biases),
          .factors = add_elements(builder, ElementType::f32, scaling.factors)};
}

}  // namespace millrace::device::cpu::kernels::quantised::vnni
