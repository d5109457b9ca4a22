// The loops of matrix instructions on bytes, beside sums that are added up one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "device/cpu/kernels/quantised/amx/pointwise_loops.h"
#include "device/cpu/kernels/tiles.h"
#include "tests/device_cpu/at_page_end.h"
#include "tests/device_cpu/kernels/byte_layer.h"

namespace millrace::device::cpu::kernels::quantised::amx {
namespace {

using vnni::Bytes;
using vnni::Guarded;
using vnni::kOnlyScaled;
using vnni::Layer;
using vnni::numbers;
using vnni::Sum;

struct Case {
  const char* name;
  size_t channels_in, channels_out, pixels;
  Bytes bytes;
  std::optional<Sum> sum = std::nullopt;
};

class AmxPointwise : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!may_use_tiles()) GTEST_SKIP() << "no AMX on this processor";
  }

  // All pixels in one part, and all groups.
  PointwiseWork work(const uint8_t* image, const int8_t* filters, const uint8_t* residual,
                     uint8_t* result) const {
    return {.image = image,
            .filters = filters,
            .scaling = layer_.scaling(),
            .residual = c_.sum ? residual : nullptr,
            .result = result,
            .pixels = c_.pixels,
            .first_pixel = 0,
            .pixel_count = c_.pixels,
            .first_group = 0,
            .group_count = loops_.groups()};
  }

  // In two parts of pixels, as two lanes do it.
  std::vector<uint8_t> run_pixels() const {
    AtPageEnd image(image_);
    AtPageEnd filters(arranged(loops_, layer_.filters()));
    Guarded result(residual_.size());
    PointwiseWork part = work(image.data(), filters.data(), residual_.data(), result.data());
    part.pixel_count = kTileRows;
    run(loops_, part);
    part.first_pixel = kTileRows;
    part.pixel_count = c_.pixels - kTileRows;
    run(loops_, part);
    return result.result();
  }

  // Group by group, in the memory of what is added.
  std::vector<uint8_t> run_groups() const {
    AtPageEnd image(image_);
    AtPageEnd filters(arranged(loops_, layer_.filters()));
    Guarded result(residual_.size());
    std::ranges::copy(residual_, result.data());
    PointwiseWork part = work(image.data(), filters.data(), result.data(), result.data());
    part.group_count = 1;
    for (; part.first_group < loops_.groups(); ++part.first_group) run(loops_, part);
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
  const Case c_ = GetParam();
  const Layer layer_{c_.bytes, c_.channels_out, c_.channels_in, 0};
  const PointwiseLayer loops_{c_.channels_in, c_.channels_out, layer_.encoding(),
                              c_.sum ? std::optional(c_.sum->addition()) : std::nullopt};
  const std::vector<uint8_t> image_ = numbers<uint8_t>(c_.pixels * c_.channels_in, 0, 255);
  const std::vector<uint8_t> residual_ = numbers<uint8_t>(c_.pixels * c_.channels_out, 0, 255);
};

TEST_P(AmxPointwise, GivesEveryByteOfSumsAddedUpOneByOne) {
  EXPECT_EQ(run_pixels(), expected());
  EXPECT_EQ(run_groups(), expected());
}

// Channels of the image and of the result, pixels.
INSTANTIATE_TEST_SUITE_P(
    , AmxPointwise,
    ::testing::Values(
        Case{"one_tile", 64, 64, 16, {}}, Case{"pixels_left_over", 128, 64, 37, {}},
        Case{"several_groups", 64, 192, 40, {}},
        Case{"more_than_the_cache_holds", 2048, 64, 250, {}},
        Case{"plain", 128, 128, 35, kOnlyScaled},
        Case{"plain_signed", 64, 128, 33, {true, false, 3, 0, 0, 255, 1 / 512.0F, false}},
        Case{"zero_points", 64, 64, 20, {false, false, 131, 120}},
        Case{"signed_image", 64, 64, 20, {true, false, -5, 0}},
        Case{"signed_both", 128, 64, 20, {true, true, 17, -40}},
        Case{"bounds", 64, 64, 20, {false, true, 0, 3, 100, 190}},
        Case{"far_beyond_bytes", 64, 64, 20, {false, false, 0, 9, 0, 255, 300}},
        Case{"added", 64, 128, 37, {}, Sum{}}, Case{"added_plain", 64, 64, 37, kOnlyScaled, Sum{}},
        Case{"added_zero_points", 64, 64, 20, {false, false, 131, 120}, Sum{false, false, 99, 77}},
        Case{"added_signed", 64, 64, 20, {true, true, 17, -40}, Sum{true, true, -33, 25}},
        Case{"added_bounds", 64, 64, 20, {false, true, 0, 3, 100, 190}, Sum{true, false, 7, 0}},
        Case{"added_far_beyond_bytes",
             64,
             64,
             20,
             {false, false, 0, 9, 0, 255, 300},
             Sum{false, true, 0, -100, 900, 700}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace millrace::device::cpu::kernels::quantised::amx
