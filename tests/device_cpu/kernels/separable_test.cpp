// The loops of a convolution of one pixel and the depthwise one behind it in BF16, beside sums that
// are added up one by one. All numbers are such that FP32 has the sums, so that there is one right
// result to every bit: that of the two convolutions one after the other, each of them rounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "base/process/topology.h"
#include "device/cpu/kernels/separable/bf16_loops.h"
#include "device/cpu/steps/parts.h"
#include "tensor/half.h"
#include "tests/device_cpu/at_page_end.h"
#include "tests/device_cpu/kernels/multiples.h"

namespace millrace::device::cpu::kernels::separable {
namespace {

using ::testing::Each;

constexpr size_t kGuards = 64;
constexpr float kInfinite = std::numeric_limits<float>::infinity();

struct Bounds {
  float least = -kInfinite, most = kInfinite;

  float keep(float number) const { return std::min(most, std::max(least, number)); }
};

struct Case {
  const char* name;
  size_t channels_in, channels_out, height, width, out_height, out_width, stride, above, left;
  Bounds pointwise = {0, 6}, depthwise = {0, kInfinite};
  bool has_biases = true;
};

std::string name_of(Bf16Products products) {
  return products == Bf16Products::kTiles ? "tiles" : "pairs";
}

class SeparableBf16 : public ::testing::TestWithParam<std::tuple<Case, Bf16Products>> {
 protected:
  void SetUp() override {
    const bool uses_tiles = products_ == Bf16Products::kTiles;
    if (uses_tiles && bf16_products() != products_) GTEST_SKIP() << "there are no tiles here";
    if (!topology().features.avx512_bf16) GTEST_SKIP() << "there are no products of BF16 here";
  }

  // Divided into so many parts, each with scratch of its own between guards.
  std::vector<uint16_t> run_loops(const Geometry& g, size_t parts) const {
    std::vector<uint16_t> image(g.image_elements()), filters(g.channels_in * g.channels_out());
    for_each_pixel(c_.channels_in, g.height, g.width, [&](size_t c, size_t y, size_t x) {
      image[place(g, c_.channels_in, g.height, g.width, c, y, x)] =
          tensor::float_to_bf16(image_[(c * g.height + y) * g.width + x]);
    });
    arrange(g, filters_.data(), filters.data());
    const std::vector<float> taps = arranged_taps();
    const auto bias_of = [&](const std::vector<float>& bias) {
      return c_.has_biases ? bias.data() : nullptr;
    };
    // Tiles are loaded from these.
    AtPageEnd guarded_image(image), guarded_filters(filters);
    const Bf16Layer pointwise{guarded_filters.data(), bias_of(bias_), c_.pointwise.least,
                              c_.pointwise.most};
    const Layer depthwise{taps.data(), bias_of(second_bias_), c_.depthwise.least,
                          c_.depthwise.most};
    constexpr uint16_t kGuard = 0x1234;
    std::vector<uint16_t> result(g.result_elements() + kGuards, kGuard);
    for (size_t i = 0; i < parts; ++i) {
      Bf16Work work{guarded_image.data(), result.data(), nullptr, 0, g.out_height};
      const size_t all = g.divides_panels ? g.panels() : g.out_height;
      const Share share = share_of(all, static_cast<uint32_t>(i), static_cast<uint32_t>(parts));
      (g.divides_panels ? work.first_panel : work.first_row) = share.first;
      (g.divides_panels ? work.panels : work.rows) = share.count;
      std::vector<float> scratch(g.scratch_floats() + kGuards, 1234);
      work.scratch = scratch.data();
      run(g, pointwise, depthwise, work);
      scratch.erase(scratch.begin(), scratch.end() - kGuards);
      EXPECT_THAT(scratch, Each(1234));
    }
    EXPECT_THAT(std::vector(result.end() - kGuards, result.end()), Each(kGuard));
    return result_in_c_order(g, result);
  }

  std::vector<uint16_t> expected() const {
    const std::vector<float> between = image_between();
    std::vector<uint16_t> result;
    for_each_pixel(c_.channels_out, c_.out_height, c_.out_width, [&](size_t c, size_t y, size_t x) {
      float sum = c_.has_biases ? second_bias_[c] : 0;
      for (size_t tap = 0; tap < kTaps * kTaps; ++tap) {
        const size_t row = y * c_.stride + tap / kTaps - c_.above;
        const size_t column = x * c_.stride + tap % kTaps - c_.left;  // wrap around outside
        if (row < c_.height && column < c_.width)
          sum +=
              taps_[c * kTaps * kTaps + tap] * between[(c * c_.height + row) * c_.width + column];
      }
      result.push_back(tensor::float_to_bf16(c_.depthwise.keep(sum)));
    });
    return result;
  }

  Geometry geometry() const {
    return arranged({.block = kBf16Block,
                     .channels_in = c_.channels_in,
                     .blocks_out = c_.channels_out / kBf16Block,
                     .height = c_.height,
                     .width = c_.width,
                     .out_height = c_.out_height,
                     .out_width = c_.out_width,
                     .stride = c_.stride,
                     .above = c_.above,
                     .left = c_.left},
                    products_);
  }

  const Case c_ = std::get<0>(GetParam());
  const Bf16Products products_ = std::get<1>(GetParam());

 private:
  template <class Function>
  static void for_each_pixel(size_t channels, size_t height, size_t width, Function function) {
    for (size_t c = 0; c < channels; ++c)
      for (size_t y = 0; y < height; ++y)
        for (size_t x = 0; x < width; ++x) function(c, y, x);
  }

  static size_t place(const Geometry& g, size_t channels, size_t height, size_t width, size_t c,
                      size_t y, size_t x) {
    if (g.channels_innermost) return (y * width + x) * channels + c;
    return ((c / g.block * height + y) * width + x) * g.block + c % g.block;
  }

  std::vector<uint16_t> result_in_c_order(const Geometry& g,
                                          const std::vector<uint16_t>& result) const {
    std::vector<uint16_t> ordered;
    for_each_pixel(c_.channels_out, g.out_height, g.out_width, [&](size_t c, size_t y, size_t x) {
      ordered.push_back(result[place(g, c_.channels_out, g.out_height, g.out_width, c, y, x)]);
    });
    return ordered;
  }

  std::vector<float> arranged_taps() const {
    constexpr size_t kAll = kTaps * kTaps;
    std::vector<float> taps(taps_.size());
    for (size_t c = 0; c < c_.channels_out; ++c)
      for (size_t tap = 0; tap < kAll; ++tap)
        taps[(c / kBf16Block * kAll + tap) * kBf16Block + c % kBf16Block] = taps_[c * kAll + tap];
    return taps;
  }

  std::vector<float> image_between() const {
    std::vector<float> between;
    for_each_pixel(c_.channels_out, c_.height, c_.width, [&](size_t c, size_t y, size_t x) {
      float sum = c_.has_biases ? bias_[c] : 0;
      for (size_t k = 0; k < c_.channels_in; ++k)
        sum += filters_[c * c_.channels_in + k] * image_[(k * c_.height + y) * c_.width + x];
      between.push_back(tensor::nearest_bf16(c_.pointwise.keep(sum)));
    });
    return between;
  }

  const std::vector<float> image_ = multiples(c_.channels_in * c_.height * c_.width, 16, 0.125F);
  const std::vector<float> filters_ = multiples(c_.channels_out * c_.channels_in, 15, 0.0625F);
  const std::vector<float> taps_ = multiples(c_.channels_out * kTaps * kTaps, 13, 0.0625F);
  const std::vector<float> bias_ = multiples(c_.channels_out, 300, 1 / 128.0F);
  const std::vector<float> second_bias_ = multiples(c_.channels_out, 100, 1 / 64.0F);
};

TEST_P(SeparableBf16, GivesWhatTheTwoGiveOneAfterTheOther) {
  EXPECT_EQ(run_loops(geometry(), 1), expected());
}

TEST_P(SeparableBf16, InRowsAndStripsGivesTheSame) {
  Geometry g = geometry();
  g.strips = std::min<size_t>(3, g.out_width);
  g.panel_blocks = 2;
  g.divides_panels = false;
  EXPECT_EQ(run_loops(g, std::min<size_t>(3, g.out_height)), expected());
}

TEST_P(SeparableBf16, InPanelsGivesTheSame) {
  Geometry g = geometry();
  g.panel_blocks = 1;
  g.divides_panels = true;
  EXPECT_EQ(run_loops(g, std::min<size_t>(2, g.panels())), expected());
}

// Channels of the image and of the result; the image, the result; stride; padding above and left.
INSTANTIATE_TEST_SUITE_P(
    , SeparableBf16,
    ::testing::Combine(
        ::testing::Values(
            Case{"whole_tiles", 32, 32, 6, 32, 6, 32, 1, 1, 1},
            Case{"last_pixels", 16, 96, 9, 23, 9, 23, 1, 1, 1},
            Case{"last_channels", 24, 48, 7, 33, 7, 33, 1, 1, 1},
            Case{"narrow", 40, 80, 5, 7, 5, 7, 1, 1, 1},
            Case{"one_column", 16, 16, 5, 1, 5, 1, 1, 1, 1},
            Case{"one_pixel", 2, 16, 1, 1, 1, 1, 1, 1, 1},
            Case{"two_filter_tiles", 64, 64, 6, 20, 6, 20, 1, 1, 1},
            Case{"three_filter_tiles", 96, 32, 5, 18, 5, 18, 1, 1, 1},
            Case{"four_filter_tiles", 126, 32, 4, 17, 4, 17, 1, 1, 1},
            Case{"several_strips", 16, 32, 5, 150, 5, 150, 1, 1, 1},
            Case{"stride", 16, 96, 11, 19, 6, 10, 2, 1, 1},
            Case{"stride_wide", 24, 32, 9, 161, 5, 81, 2, 1, 1},
            Case{"stride_even", 16, 48, 8, 16, 4, 8, 2, 0, 0},
            Case{"stride_narrow", 96, 16, 4, 4, 2, 2, 2, 1, 1},
            Case{"no_padding", 24, 32, 8, 21, 6, 19, 1, 0, 0},
            Case{"padding_above_only", 24, 32, 8, 21, 7, 19, 1, 1, 0},
            Case{"wide_padding_at_the_end", 16, 32, 6, 18, 8, 21, 1, 1, 1},
            Case{"strips_of_padding_only", 16, 16, 4, 3, 5, 9, 1, 1, 1},
            Case{"no_biases", 32, 32, 6, 18, 6, 18, 1, 1, 1, {0, 6}, {0, 6}, false},
            Case{"no_bounds", 32, 32, 6, 18, 6, 18, 1, 1, 1, {}, {}},
            Case{"bounds_between", 32, 32, 6, 18, 6, 18, 1, 1, 1, {-0.7F, 1.3F}, {-1, 0.3F}}),
        ::testing::Values(Bf16Products::kTiles, Bf16Products::kPairs)),
    [](const auto& info) {
      return std::get<0>(info.param).name + ("_by_" + name_of(std::get<1>(info.param)));
    });

}  // namespace
}  // namespace millrace::device::cpu::kernels::separable
