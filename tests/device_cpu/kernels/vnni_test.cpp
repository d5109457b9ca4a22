// The loops of convolutions of bytes, beside sums that are added up one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/process/topology.h"
#include "device/cpu/kernels/quantised/vnni/depthwise_loops.h"
#include "device/cpu/kernels/quantised/vnni/planar.h"
#include "device/cpu/kernels/quantised/vnni/pointwise_loops.h"

namespace millrace::device::cpu::kernels::quantised::vnni {
namespace {

using kernels::depthwise::Geometry;
using ::testing::Each;

constexpr size_t kTaps = kernels::depthwise::kTaps;
constexpr size_t kGuards = 64;
constexpr uint8_t kGuard = 0xa5;

// How the bytes of images stand for numbers. The zero points are of the bytes as they are stored.
struct Bytes {
  bool signed_image = false, signed_result = false;
  int32_t x_zero_point = 0, y_zero_point = 0;
  uint8_t least = 0, most = 255;  // of results; with 128 added where they are signed
  float factor = 1 / 512.0F;      // of the sums
  bool adds_biases = true;        // which are 0 where it is false
};

// Nothing is added to the sums, nor is there another bound than those of bytes.
constexpr Bytes kOnlyScaled{.adds_biases = false};

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
  Layer(const Bytes& bytes, size_t channels, size_t filter_size)
      : bytes_(bytes),
        filter_size_(filter_size),
        filters_(numbers<int8_t>(channels * filter_size, -128, 127)) {
    for (size_t channel = 0; channel < channels; ++channel) {
      int32_t sum = 0;
      for (size_t i = 0; i < filter_size; ++i) sum += filter(channel, i);
      scaling_.starts.push_back(-sum * (bytes.x_zero_point + (bytes.signed_image ? 128 : 0)));
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

  // What a byte of the image counts.
  int32_t number(uint8_t byte) const {
    return (bytes_.signed_image ? static_cast<int8_t>(byte) : int32_t{byte}) - bytes_.x_zero_point;
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

// Memory for a result, with what a loop must not write to behind it.
class Guarded {
 public:
  explicit Guarded(size_t size) : bytes_(size + kGuards, kGuard) {}
  uint8_t* data() { return bytes_.data(); }
  void expect_guards() const {
    EXPECT_THAT(std::vector(bytes_.end() - kGuards, bytes_.end()), Each(kGuard));
  }
  std::vector<uint8_t> result() const {
    expect_guards();
    return {bytes_.begin(), bytes_.end() - kGuards};
  }

 private:
  std::vector<uint8_t> bytes_;
};

// Tests of loops that only processors with these instructions can run.
template <class Case>
class OfVnni : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!topology().features.avx512_vnni) GTEST_SKIP() << "no VNNI on this processor";
  }
};

// Runs the layer with memory for the result and for scratch, in two parts, as two lanes do it. The
// first has so many rows.
std::vector<uint8_t> run_planar(const PlanarLayer& layer, PlanarWork work, size_t first_rows) {
  const Geometry& g = layer.depthwise.geometry;
  Guarded result(g.out_height * g.out_width * g.channels), scratch(layer.scratch_bytes());
  work.result = result.data();
  work.scratch = scratch.data();
  work.first_row = 0;
  work.rows = first_rows;
  run(layer, work);
  work.first_row = first_rows;
  work.rows = g.out_height - first_rows;
  run(layer, work);
  scratch.expect_guards();
  return result.result();
}

struct DepthwiseCase {
  const char* name;
  Geometry geometry;
  Bytes bytes;
};

class VnniDepthwise : public OfVnni<DepthwiseCase> {
 protected:
  std::vector<uint8_t> run_in_planes() const {
    const std::vector<int8_t> filters = arranged_in_planes(g_.channels, layer_.filters());
    const PlanarLayer layer{
        std::nullopt, {g_, layer_.encoding()}, static_cast<uint8_t>(bytes_.x_zero_point)};
    PlanarWork work{};
    work.image = image_.data();
    work.depthwise = {filters.data(), layer_.scaling_in_planes()};
    return run_planar(layer, work, 1);
  }

  std::vector<uint8_t> run_loops() const {
    const std::vector<int8_t> filters = arranged_depthwise(g_.channels, layer_.filters());
    const std::vector<uint8_t> padding(kernels::depthwise::kPaddingPixels * g_.channels,
                                       static_cast<uint8_t>(bytes_.x_zero_point));
    Guarded result(g_.out_height * g_.out_width * g_.channels);
    const DepthwiseLayer layer{g_, layer_.encoding()};
    DepthwiseWork work{
        image_.data(), padding.data(), filters.data(), layer_.scaling(), result.data(), 0, 1};
    // In two parts, as two lanes do it.
    run(layer, work);
    work.first_row = 1;
    work.rows = g_.out_height - 1;
    run(layer, work);
    return result.result();
  }

  std::vector<uint8_t> expected() const {
    std::vector<uint8_t> result;
    for (size_t row = 0; row < g_.out_height; ++row)
      for (size_t column = 0; column < g_.out_width; ++column)
        for (size_t channel = 0; channel < g_.channels; ++channel)
          result.push_back(layer_.stored(channel, sum_of(row, column, channel)));
    return result;
  }

  const Geometry g_ = GetParam().geometry;

 private:
  int32_t pixel(size_t row, size_t column, size_t channel) const {
    if (row >= g_.height || column >= g_.width) return 0;
    return layer_.number(image_[(row * g_.width + column) * g_.channels + channel]);
  }

  int32_t sum_of(size_t row, size_t column, size_t channel) const {
    int32_t sum = 0;
    for (size_t i = 0; i < kTaps; ++i)
      for (size_t j = 0; j < kTaps; ++j)
        sum += pixel(row * g_.stride + i - g_.above, column * g_.stride + j - g_.left, channel) *
               layer_.filter(channel, i * kTaps + j);
    return sum;
  }

  const Bytes bytes_ = GetParam().bytes;
  const Layer layer_{bytes_, g_.channels, kTaps* kTaps};
  const std::vector<uint8_t> image_ = numbers<uint8_t>(g_.height * g_.width * g_.channels, 0, 255);
};

TEST_P(VnniDepthwise, GivesEveryByteOfSumsAddedUpOneByOne) {
  if (g_.channels % kWide == 0) {
    EXPECT_EQ(run_loops(), expected());
  }
  if (g_.out_width >= kPlaneWindowsAtOnce) {
    EXPECT_EQ(run_in_planes(), expected());
  }
}

// Channels; height and width of the image and of the result; stride; padding above and to the left.
INSTANTIATE_TEST_SUITE_P(
    , VnniDepthwise,
    ::testing::Values(
        DepthwiseCase{"one_group", {64, 7, 9, 7, 9, 1, 1, 1}, {}},
        DepthwiseCase{"several_groups", {192, 5, 6, 5, 6, 1, 1, 1}, {}},
        DepthwiseCase{"one_plane", {16, 7, 9, 7, 9, 1, 1, 1}, {}},
        DepthwiseCase{"several_planes", {48, 6, 4, 6, 4, 1, 1, 1}, {}},
        DepthwiseCase{"planes_stride", {80, 11, 13, 6, 7, 2, 1, 1}, {true, false, -5, 0}},
        DepthwiseCase{"planes_stride_even", {32, 10, 10, 5, 5, 2, 0, 0}, {false, true, 9, 0}},
        DepthwiseCase{"planes_one_row", {16, 1, 8, 1, 8, 1, 1, 1}, {}},
        DepthwiseCase{"planes_more_padding_at_the_end", {16, 5, 6, 7, 8, 1, 1, 1}, {}},
        DepthwiseCase{"stride", {64, 9, 9, 5, 5, 2, 1, 1}, {}},
        DepthwiseCase{"stride_even", {128, 8, 8, 4, 4, 2, 0, 0}, {}},
        DepthwiseCase{"no_padding", {64, 7, 8, 5, 6, 1, 0, 0}, {}},
        DepthwiseCase{"padding_at_the_end_only", {64, 7, 8, 7, 8, 1, 0, 0}, {}},
        DepthwiseCase{"two_columns", {64, 4, 2, 4, 2, 1, 1, 1}, {}},
        DepthwiseCase{"one_pixel_under_two_windows", {64, 3, 1, 3, 2, 1, 1, 1}, {}},
        DepthwiseCase{"plain", {128, 7, 9, 7, 9, 1, 1, 1}, kOnlyScaled},
        DepthwiseCase{"plain_stride_signed",
                      {64, 9, 9, 5, 5, 2, 1, 1},
                      {true, false, 3, 0, 0, 255, 1 / 512.0F, false}},
        DepthwiseCase{"zero_points", {64, 7, 7, 7, 7, 1, 1, 1}, {false, false, 131, 120}},
        DepthwiseCase{"signed_image", {64, 7, 7, 7, 7, 1, 1, 1}, {true, false, -5, 0}},
        DepthwiseCase{"signed_both", {64, 7, 7, 4, 4, 2, 1, 1}, {true, true, 17, -40}},
        DepthwiseCase{"bounds", {64, 7, 7, 7, 7, 1, 1, 1}, {false, true, 0, 3, 100, 190}},
        DepthwiseCase{
            "far_beyond_bytes", {64, 7, 7, 7, 7, 1, 1, 1}, {false, false, 0, 9, 0, 255, 300}}),
    [](const auto& info) { return info.param.name; });

struct PointwiseCase {
  const char* name;
  size_t channels_in, channels_out, pixels;
  Bytes bytes;
};

class VnniPointwise : public OfVnni<PointwiseCase> {
 protected:
  std::vector<uint8_t> run_loops() const {
    const PointwiseLayer layer{c_.channels_in, c_.channels_out, layer_.encoding()};
    const std::vector<int8_t> filters = arranged_pointwise(layer, layer_.filters());
    Guarded result(c_.pixels * c_.channels_out);
    run(layer, {image_.data(), filters.data(), layer_.scaling(), result.data(), c_.pixels});
    return result.result();
  }

  std::vector<uint8_t> expected() const {
    std::vector<uint8_t> result;
    for (size_t pixel = 0; pixel < c_.pixels; ++pixel)
      for (size_t channel = 0; channel < c_.channels_out; ++channel) {
        int32_t sum = 0;
        for (size_t k = 0; k < c_.channels_in; ++k)
          sum += layer_.number(image_[pixel * c_.channels_in + k]) * layer_.filter(channel, k);
        result.push_back(layer_.stored(channel, sum));
      }
    return result;
  }

 private:
  const PointwiseCase c_ = GetParam();
  const Layer layer_{c_.bytes, c_.channels_out, c_.channels_in};
  const std::vector<uint8_t> image_ = numbers<uint8_t>(c_.pixels * c_.channels_in, 0, 255);
};

TEST_P(VnniPointwise, GivesEveryByteOfSumsAddedUpOneByOne) {
  EXPECT_EQ(run_loops(), expected());
}

// Channels of the image and of the result, pixels.
INSTANTIATE_TEST_SUITE_P(
    , VnniPointwise,
    ::testing::Values(
        PointwiseCase{"whole_vectors", 16, 64, 32, {}},
        PointwiseCase{"pixels_left_over", 24, 128, 19, {}},
        PointwiseCase{"one_pixel", 64, 64, 1, {}}, PointwiseCase{"one_word", 4, 64, 17, {}},
        PointwiseCase{"groups_of_two_sizes", 32, 144, 20, {}},
        PointwiseCase{"groups_that_overlap", 16, 103, 18, {}},
        PointwiseCase{"few_channels", 8, 23, 18, {}},
        PointwiseCase{"plain", 32, 112, 20, kOnlyScaled},
        PointwiseCase{"plain_signed", 16, 96, 20, {true, false, 3, 0, 0, 255, 1 / 512.0F, false}},
        PointwiseCase{"zero_points", 16, 96, 20, {false, false, 131, 120}},
        PointwiseCase{"signed_image", 16, 96, 20, {true, false, -5, 0}},
        PointwiseCase{"signed_both", 16, 96, 20, {true, true, 17, -40}},
        PointwiseCase{"bounds", 16, 96, 20, {false, true, 0, 3, 100, 190}},
        PointwiseCase{"far_beyond_bytes", 16, 96, 20, {false, false, 0, 9, 0, 255, 300}}),
    [](const auto& info) { return info.param.name; });

struct SeparableCase {
  const char* name;
  size_t channels_in;
  Geometry geometry;
  Bytes between, result;
};

class VnniSeparable : public OfVnni<SeparableCase> {
 protected:
  std::vector<uint8_t> run_together() const {
    PlanarLayer layer = depthwise_layer();
    layer.pointwise = pointwise_layer();
    return run_on(layer, image_);
  }

  std::vector<uint8_t> run_one_after_the_other() const {
    const size_t pixels = g_.height * g_.width;
    Guarded between(pixels * g_.channels);
    run(pointwise_layer(),
        {image_.data(), first_filters_.data(), first_.scaling(), between.data(), pixels});
    return run_on(depthwise_layer(), between.result());
  }

 private:
  PointwiseLayer pointwise_layer() const {
    return {c_.channels_in, g_.channels, first_.encoding()};
  }
  PlanarLayer depthwise_layer() const {
    return {std::nullopt, {g_, second_.encoding()}, static_cast<uint8_t>(c_.result.x_zero_point)};
  }

  std::vector<uint8_t> run_on(const PlanarLayer& layer, const std::vector<uint8_t>& image) const {
    PlanarWork work{};
    work.image = image.data();
    work.pointwise = {first_filters_.data(), first_.scaling()};
    work.depthwise = {second_filters_.data(), second_.scaling_in_planes()};
    return run_planar(layer, work, 2);
  }

  const SeparableCase c_ = GetParam();
  const Geometry g_ = c_.geometry;
  const Layer first_{c_.between, g_.channels, c_.channels_in};
  const Layer second_{c_.result, g_.channels, kTaps* kTaps};
  const std::vector<int8_t> first_filters_ =
      arranged_pointwise({c_.channels_in, g_.channels, {}}, first_.filters());
  const std::vector<int8_t> second_filters_ = arranged_in_planes(g_.channels, second_.filters());
  const std::vector<uint8_t> image_ =
      numbers<uint8_t>(g_.height * g_.width * c_.channels_in, 0, 255);
};

TEST_P(VnniSeparable, GivesWhatTheTwoGiveOneAfterTheOther) {
  EXPECT_EQ(run_together(), run_one_after_the_other());
}

INSTANTIATE_TEST_SUITE_P(
    , VnniSeparable,
    ::testing::Values(
        SeparableCase{"plain", 16, {96, 8, 23, 8, 23, 1, 1, 1}, kOnlyScaled, kOnlyScaled},
        SeparableCase{"stride", 24, {144, 9, 19, 5, 10, 2, 1, 1}, kOnlyScaled, kOnlyScaled},
        SeparableCase{"stride_even", 4, {32, 12, 12, 6, 6, 2, 0, 0}, kOnlyScaled, kOnlyScaled},
        SeparableCase{"wide", 8, {128, 5, 6, 5, 6, 1, 1, 1}, kOnlyScaled, kOnlyScaled},
        SeparableCase{"zero_points",
                      16,
                      {80, 7, 9, 7, 9, 1, 1, 1},
                      {false, false, 131, 120},
                      {false, false, 120, 17}},
        SeparableCase{"signed_between",
                      16,
                      {80, 7, 9, 7, 9, 1, 1, 1},
                      {true, true, 3, -7},
                      {true, false, -7, 17}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace millrace::device::cpu::kernels::quantised::vnni
