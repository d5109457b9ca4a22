// Layers of convolutions of bytes whose filters, scales and biases are made up, for tests of loops
// beside sums that are added up one by one.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/cpu/kernels/quantised/vnni/channel_groups.h"

namespace millrace::device::cpu::kernels::quantised::vnni {

inline constexpr size_t kGuards = 64;
inline constexpr uint8_t kGuard = 0xa5;

// The meaning of the bytes of images. The zero points are of the bytes as they are stored.
struct Bytes {
  bool signed_image = false, signed_result = false;
  int32_t x_zero_point = 0, y_zero_point = 0;
  uint8_t least = 0, most = 255;  // of results; with 128 added where they are signed
  float factor = 1 / 512.0F;      // of the sums
  bool adds_biases = true;        // which are 0 where it is false
};

// A layer that adds nothing to the sums, and bounds them only by the range of bytes.
inline constexpr Bytes kOnlyScaled{.adds_biases = false};

// Numbers that repeat after a prime number of them only.
template <class T>
std::vector<T> numbers(size_t count, int least, int most) {
  std::vector<T> all;
  for (size_t i = 0; i < count; ++i)
    all.push_back(static_cast<T>(least + static_cast<int>(i * 7919 % 65537) % (most - least + 1)));
  return all;
}

// A layer of any kind: the filters of its channels, each as long, and what becomes of their sums.
class Layer {
 public:
  // For loops that multiply bytes of INT8 as UINT8.
  Layer(const Bytes& bytes, size_t channels, size_t filter_size)
      : Layer(bytes, channels, filter_size, bytes.signed_image ? 128 : 0) {}
  // `image_shift` is what loops add to the bytes of the image.
  Layer(const Bytes& bytes, size_t channels, size_t filter_size, int32_t image_shift)
      : bytes_(bytes),
        filter_size_(filter_size),
        filters_(numbers<int8_t>(channels * filter_size, -128, 127)) {
    for (size_t channel = 0; channel < channels; ++channel) {
      int32_t sum = 0;
      for (size_t i = 0; i < filter_size; ++i) sum += filter(channel, i);
      scaling_.starts.push_back(-sum * (bytes.x_zero_point + image_shift));
      scaling_.biases.push_back(bytes.adds_biases ? static_cast<float>(channel) * 37.25F - 900 : 0);
      scaling_.factors.push_back(bytes.factor * static_cast<float>(channel % 5 + 1));
    }
    arranged_ = arranged(scaling_);
    if (channels % kNarrow == 0) in_planes_ = arranged_in_planes(scaling_);
  }

  const std::vector<int8_t>& filters() const { return filters_; }
  int32_t filter(size_t channel, size_t at) const { return filters_[channel * filter_size_ + at]; }
  ScalingView scaling() const { return view_of(arranged_); }
  ScalingView scaling_in_planes() const { return view_of(in_planes_); }
  Encoding encoding() const {
    const int shift = bytes_.signed_result ? 128 : 0;
    return {bytes_.signed_image,
            {bytes_.signed_result, static_cast<int16_t>(bytes_.y_zero_point + shift), bytes_.least,
             bytes_.most},
            bytes_.adds_biases};
  }

  // The integer that a byte of the image stands for, less the zero point.
  int32_t number(uint8_t byte) const {
    return (bytes_.signed_image ? static_cast<int8_t>(byte) : int32_t{byte}) - bytes_.x_zero_point;
  }

  // The products of a pixel with the filter of a channel, which has one tap.
  int32_t sum_of(size_t channel, const uint8_t* pixel) const {
    int32_t sum = 0;
    for (size_t k = 0; k < filter_size_; ++k) sum += number(pixel[k]) * filter(channel, k);
    return sum;
  }

  // The integer that a byte of the result stands for, less the zero point.
  int32_t steps(uint8_t byte) const {
    return (bytes_.signed_result ? static_cast<int8_t>(byte) : int32_t{byte}) - bytes_.y_zero_point;
  }

  uint8_t stored(size_t channel, int32_t sum) const {
    const float biased = static_cast<float>(sum) + scaling_.biases[channel];
    const float scaled = biased * scaling_.factors[channel];
    const int shift = bytes_.signed_result ? 128 : 0;
    const float byte = std::nearbyint(scaled) + static_cast<float>(bytes_.y_zero_point + shift);
    const float kept = std::clamp<float>(byte, bytes_.least, bytes_.most);
    return static_cast<uint8_t>(static_cast<int>(kept) - shift);
  }

 private:
  static ScalingView view_of(const Scaling& scaling) {
    return {scaling.starts.data(), scaling.biases.data(), scaling.factors.data()};
  }

  const Bytes bytes_;
  const size_t filter_size_;
  const std::vector<int8_t> filters_;
  Scaling scaling_, arranged_, in_planes_;
};

// Adds a residual to the result of a layer. Zero points are of bytes as they are stored.
struct Sum {
  bool signed_residual = false, signed_sum = false;
  int32_t residual_zero_point = 0, zero_point = 0;
  // Scales of the result and of the other operand, divided by that of the sum.
  float result_scale = 0.7F, residual_scale = 1.3F;

  Addition addition() const {
    const auto shifted = [](int32_t zero_point, bool is_signed) {
      return static_cast<int16_t>(zero_point + (is_signed ? 128 : 0));
    };
    return {result_scale,
            residual_scale,
            signed_residual,
            shifted(residual_zero_point, signed_residual),
            {signed_sum, shifted(zero_point, signed_sum), 0, 255}};
  }

  // `made` is the result of the layer, as a multiple of its scale.
  uint8_t stored(int32_t made, uint8_t residual) const {
    const int32_t byte = signed_residual ? static_cast<int8_t>(residual) : int32_t{residual};
    const float number = std::fma(static_cast<float>(byte - residual_zero_point), residual_scale,
                                  static_cast<float>(made) * result_scale);
    const float least = signed_sum ? -128 : 0;
    const float sum = std::nearbyint(number) + static_cast<float>(zero_point);
    return static_cast<uint8_t>(static_cast<int>(std::clamp(sum, least, least + 255)));
  }
};

// Memory for a result, with what a loop must not write to behind it.
class Guarded {
 public:
  explicit Guarded(size_t size) : bytes_(size + kGuards, kGuard) {}
  uint8_t* data() { return bytes_.data(); }
  void expect_guards() const {
    EXPECT_THAT(std::vector(bytes_.end() - kGuards, bytes_.end()), ::testing::Each(kGuard));
  }
  std::vector<uint8_t> result() const {
    expect_guards();
    return {bytes_.begin(), bytes_.end() - kGuards};
  }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace millrace::device::cpu::kernels::quantised::vnni
