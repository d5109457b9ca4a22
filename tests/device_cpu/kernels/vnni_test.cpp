// The loops of convolutions of bytes, beside sums that are added up one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/process/topology.h"
#include "device/cpu/kernels/quantised/vnni/depthwise_loops.h"
#include "device/cpu/kernels/quantised/vnni/planar.h"
#include "device/cpu/kernels/quantised/vnni/pointwise_loops.h"
#include "tests/device_cpu/kernels/byte_layer.h"

namespace millrace::device::cpu::kernels::quantised::vnni {
namespace {

using kernels::depthwise::Geometry;

constexpr size_t kTaps = kernels::depthwise::kTaps;
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
  std::optional<Sum> sum = std::nullopt;
};

class VnniPointwise : public OfVnni<PointwiseCase> {
 protected:
  std::vector<uint8_t> run_loops() const {
    Guarded result(residual_.size());
    run_into(result, residual_.data());
    return result.result();
  }

  // In the memory of what is added.
  std::vector<uint8_t> run_in_place() const {
    Guarded result(residual_.size());
    std::ranges::copy(residual_, result.data());
    run_into(result, result.data());
    return result.result();
  }

  std::vector<uint8_t> expected() const {
    std::vector<uint8_t> result;
    for (size_t pixel = 0; pixel < c_.pixels; ++pixel)
      for (size_t channel = 0; channel < c_.channels_out; ++channel) {
        const int32_t sum = layer_.sum_of(channel, &image_[pixel * c_.channels_in]);
        const uint8_t made = layer_.stored(channel, sum);
        result.push_back(c_.sum ? c_.sum->stored(layer_.steps(made), residual_[result.size()])
                                : made);
      }
    return result;
  }

 private:
  void run_into(Guarded& result, const uint8_t* residual) const {
    PointwiseLayer layer{c_.channels_in, c_.channels_out, layer_.encoding()};
    if (c_.sum) layer.addition = c_.sum->addition();
    const std::vector<int8_t> filters = arranged_pointwise(layer, layer_.filters());
    run(layer, {.image = image_.data(),
                .filters = filters.data(),
                .scaling = layer_.scaling(),
                .residual = c_.sum ? residual : nullptr,
                .result = result.data(),
                .pixels = c_.pixels});
  }

  const PointwiseCase c_ = GetParam();
  const Layer layer_{c_.bytes, c_.channels_out, c_.channels_in};
  const std::vector<uint8_t> image_ = numbers<uint8_t>(c_.pixels * c_.channels_in, 0, 255);
  const std::vector<uint8_t> residual_ = numbers<uint8_t>(c_.pixels * c_.channels_out, 0, 255);
};

TEST_P(VnniPointwise, GivesEveryByteOfSumsAddedUpOneByOne) {
  EXPECT_EQ(run_loops(), expected());
  EXPECT_EQ(run_in_place(), expected());
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
        PointwiseCase{"far_beyond_bytes", 16, 96, 20, {false, false, 0, 9, 0, 255, 300}},
        PointwiseCase{"added", 24, 128, 37, {}, Sum{}},
        PointwiseCase{"added_plain", 64, 64, 21, kOnlyScaled, Sum{}},
        PointwiseCase{
            "added_zero_points", 16, 64, 20, {false, false, 131, 120}, Sum{false, false, 99, 77}},
        PointwiseCase{"added_signed", 16, 64, 20, {true, true, 17, -40}, Sum{true, true, -33, 25}},
        PointwiseCase{
            "added_bounds", 16, 64, 20, {false, true, 0, 3, 100, 190}, Sum{true, false, 7, 0}},
        PointwiseCase{"added_far_beyond_bytes",
                      16,
                      64,
                      20,
                      {false, false, 0, 9, 0, 255, 300},
                      Sum{false, true, 0, -100, 900, 700}}),
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
    run(pointwise_layer(), {.image = image_.data(),
                            .filters = first_filters_.data(),
                            .scaling = first_.scaling(),
                            .result = between.data(),
                            .pixels = pixels});
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
