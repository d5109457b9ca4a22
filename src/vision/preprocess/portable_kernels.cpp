// The row kernels in plain C++, for processors without the vector instructions that kernels.cpp
// needs. They give the same bits: each operation is rounded in the same order.
#include <algorithm>
#include <cmath>

#include "tensor/element.h"
#include "vision/preprocess/kernels.h"

namespace millrace::vision {
namespace {

float sum_pair(const PairRow& row, const int16_t* weights, size_t pixel, size_t lane) {
  const uint8_t* pair = row.pairs + kPairBytes * pixel + lane;
  const int16_t* both = weights + kPairWeights * pixel + 2 * lane;
  return static_cast<float>(pair[0] * both[0] + pair[row.pixel_bytes] * both[1]);
}

void interpolate(const PairRow& upper, const PairRow& lower, const int16_t* weights, float down,
                 size_t pixels, float* to) {
  for (size_t pixel = 0; pixel < pixels; ++pixel)
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float above = sum_pair(upper, weights, pixel, lane);
      const float below = sum_pair(lower, weights, pixel, lane);
      *to++ = (above + (below - above) * down) * (1.0f / kWeightOne);
    }
}

void weigh(const uint8_t* bytes, float weight, size_t count, float* sums) {
  for (size_t i = 0; i < count; ++i) sums[i] = static_cast<float>(bytes[i]) * weight;
}

void add_weighed(const uint8_t* bytes, float weight, size_t count, float* sums) {
  for (size_t i = 0; i < count; ++i) sums[i] += static_cast<float>(bytes[i]) * weight;
}

void sum_pixels(const float* pixels, size_t stride, std::span<const float> weights, float* to) {
  std::fill_n(to, kLanes, 0.0f);
  for (const float weight : weights) {
    for (size_t lane = 0; lane < kLanes; ++lane) to[lane] += pixels[lane] * weight;
    pixels += stride;
  }
}

uint8_t to_byte(float value) {
  return static_cast<uint8_t>(tensor::round_to_even(std::clamp(value, 0.0f, 255.0f)));
}

void yuv_to_rgb(const uint8_t* y, const uint8_t* u, const uint8_t* v, size_t pixels, uint8_t* to) {
  for (size_t i = 0; i < pixels; ++i, to += kLanes) {
    const float luma = (static_cast<float>(y[i]) - 16.0f) * bt601::kLuma;
    const float cb = static_cast<float>(u[i]) - 128.0f, cr = static_cast<float>(v[i]) - 128.0f;
    to[0] = to_byte(luma + cr * bt601::kRedOfCr);
    to[1] = to_byte(luma - cb * bt601::kGreenOfCb - cr * bt601::kGreenOfCr);
    to[2] = to_byte(luma + cb * bt601::kBlueOfCb);
    to[3] = 0;
  }
}

float apply_to_lane(const LaneRule& rule, const float* pixel, size_t lane) {
  return (pixel[rule.source[lane]] - rule.mean[lane]) * rule.scale[lane] * rule.factor[lane];
}

void apply(const LaneRule& rule, const float* from, size_t pixels, float* to) {
  for (size_t i = 0; i < kLanes * pixels; i += kLanes) {
    const std::array<float, kLanes> pixel = {from[i], from[i + 1], from[i + 2], from[i + 3]};
    for (size_t lane = 0; lane < kLanes; ++lane)
      to[i + lane] = apply_to_lane(rule, pixel.data(), lane);
  }
}

void apply_to_bytes(const LaneRule& rule, const ByteRange& range, const float* from, size_t pixels,
                    uint8_t* to) {
  const auto lowest = static_cast<float>(range.lowest), highest = static_cast<float>(range.highest);
  for (size_t i = 0; i < kLanes * pixels; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float value = apply_to_lane(rule, from + i, lane);
      const float whole =
          std::isnan(value) ? 0 : tensor::round_to_even(std::clamp(value, lowest, highest));
      to[i + lane] = static_cast<uint8_t>(static_cast<int32_t>(whole));
    }
}

void pack(const float* from, size_t pixels, float* to) {
  for (size_t i = 0; i < pixels; ++i) std::copy_n(from + kLanes * i, 3, to + 3 * i);
}

void split(const float* from, size_t pixels, const std::array<float*, 3>& to) {
  for (size_t i = 0; i < pixels; ++i)
    for (size_t lane = 0; lane < 3; ++lane) to[lane][i] = from[kLanes * i + lane];
}

void sum_lanes(const float* from, size_t pixels, float* to) {
  for (size_t i = 0; i < pixels; ++i, from += kLanes) to[i] = from[0] + from[1] + from[2];
}

}  // namespace

const Kernels& portable_kernels() {
  static constexpr Kernels kKernels = {interpolate, weigh,    add_weighed,    sum_pixels,
                                       yuv_to_rgb,  apply,    apply_to_bytes, pack,
                                       split,       sum_lanes};
  return kKernels;
}

}  // namespace millrace::vision
