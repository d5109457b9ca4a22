// The convolution of a BF16 image of few channels by tiles, beside sums that are added up one by
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "device/cpu/kernels/few_channels/loops.h"
#include "device/cpu/kernels/tiles.h"
#include "tensor/half.h"
#include "tests/device_cpu/at_page_end.h"
#include "tests/device_cpu/kernels/multiples.h"

namespace millrace::device::cpu::kernels::few_channels {
namespace {

using ::testing::Each;

constexpr float kInfinite = std::numeric_limits<float>::infinity();

struct Case {
  const char* name;
  Geometry geometry;
  bool has_bias = true;
  float least = 0, most = kInfinite;
};

class FewChannels : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!may_use_tiles()) GTEST_SKIP() << "no AMX on this processor";
  }

  // Runs the loops in two parts of rows, as two lanes do, the first of `first_rows` rows.
  std::vector<uint16_t> run_loops(size_t first_rows) const {
    std::vector<uint16_t> filters(g_.all_filter_elements());
    arrange_filters(g_, filters_.data(), filters.data());
    AtPageEnd image(pixels_with_room()), guarded_filters(filters);
    std::vector<float> bias = bias_;
    bias.resize(g_.blocks() * kBlock);
    constexpr uint16_t kGuard = 0x1234;
    constexpr size_t kGuards = 64;
    std::vector<uint16_t> result(g_.out_height * g_.out_width * g_.channels_out + kGuards, kGuard);
    for (const bool is_first : {true, false}) {
      std::vector<uint16_t> scratch(g_.scratch_elements() + kGuards, kGuard);
      run(g_, {.image = image.data(),
               .filters = guarded_filters.data(),
               .bias = c_.has_bias ? bias.data() : nullptr,
               .least = c_.least,
               .most = c_.most,
               .result = result.data(),
               .scratch = scratch.data(),
               .first_row = is_first ? 0 : first_rows,
               .rows = is_first ? first_rows : g_.out_height - first_rows});
      EXPECT_THAT(std::vector(scratch.end() - kGuards, scratch.end()), Each(kGuard));
    }
    EXPECT_THAT(std::vector(result.end() - kGuards, result.end()), Each(kGuard));
    result.resize(result.size() - kGuards);
    return result;
  }

  std::vector<uint16_t> expected() const {
    std::vector<uint16_t> result;
    for (size_t y = 0; y < g_.out_height; ++y)
      for (size_t x = 0; x < g_.out_width; ++x)
        for (size_t out = 0; out < g_.channels_out; ++out) {
          const float sum = sum_of(y, x, out) + (c_.has_bias ? bias_[out] : 0);
          result.push_back(tensor::float_to_bf16(std::min(c_.most, std::max(c_.least, sum))));
        }
    return result;
  }

  const Case c_ = GetParam();
  const Geometry g_ = c_.geometry;

 private:
  float sum_of(size_t out_y, size_t out_x, size_t out) const {
    float sum = 0;
    for (size_t c = 0; c < g_.channels; ++c)
      for (size_t tap = 0; tap < g_.taps_y * g_.taps_x; ++tap) {
        const size_t y = out_y * g_.stride_y + tap / g_.taps_x - g_.above;  // both wrap around
        const size_t x = out_x * g_.stride_x + tap % g_.taps_x - g_.left;   // outside
        if (y < g_.height && x < g_.width)
          sum += filters_[(out * g_.channels + c) * g_.taps_y * g_.taps_x + tap] *
                 pixels_[(y * g_.width + x) * g_.channels + c];
      }
    return sum;
  }

  // The pixels, with NaN in the elements beyond the channels.
  std::vector<uint16_t> pixels_with_room() const {
    constexpr uint16_t kNan = 0x7fc0;
    std::vector<uint16_t> all(g_.height * g_.width * kRoom, kNan);
    for (size_t i = 0; i < pixels_.size(); ++i)
      all[i / g_.channels * kRoom + i % g_.channels] = tensor::float_to_bf16(pixels_[i]);
    return all;
  }

  const std::vector<float> pixels_ = multiples(g_.height * g_.width * g_.channels, 16, 0.125F);
  const std::vector<float> filters_ =
      multiples(g_.channels_out * g_.channels * g_.taps_y * g_.taps_x, 8, 0.25F);
  const std::vector<float> bias_ = multiples(g_.channels_out, 40, 0.5F);
};

TEST_P(FewChannels, GivesSumsAddedUpOneByOne) {
  EXPECT_EQ(run_loops(g_.out_height), expected());
  EXPECT_EQ(run_loops(g_.out_height / 2), expected());
}

// Channels, height and width of the image; channels, height and width of the result; taps,
// strides, zeros above and to the left.
INSTANTIATE_TEST_SUITE_P(
    , FewChannels,
    ::testing::Values(Case{"stride", {3, 18, 64, 16, 9, 32, 3, 3, 2, 2, 1, 1}},
                      Case{"no_stride", {3, 9, 20, 32, 9, 20, 3, 3, 1, 1, 1, 1}},
                      Case{"no_room_left", {4, 8, 16, 16, 8, 16, 3, 3, 1, 1, 1, 1}},
                      Case{"one_channel", {1, 28, 28, 8, 28, 28, 3, 5, 1, 1, 1, 2}},
                      Case{"channels_left_over", {3, 20, 39, 24, 10, 20, 3, 3, 2, 2, 0, 1}},
                      Case{"one_row_of_taps", {3, 6, 40, 64, 6, 20, 1, 7, 1, 2, 0, 3}},
                      Case{"most_taps", {2, 12, 25, 16, 10, 18, 3, 8, 1, 1, 0, 0}},
                      Case{"unpadded", {3, 12, 35, 16, 5, 17, 3, 3, 2, 2, 0, 0}},
                      Case{"zeros_at_the_end_only", {3, 12, 34, 16, 6, 17, 3, 3, 2, 2, 0, 0}},
                      Case{"wide_stride", {3, 16, 70, 16, 4, 18, 2, 2, 4, 4, 0, 0}},
                      Case{"wide_zeros", {3, 4, 12, 16, 8, 16, 3, 3, 1, 1, 3, 3}},
                      Case{"only_zeros_are_read", {1, 4, 1, 16, 4, 17, 3, 2, 1, 50, 1, 803}},
                      Case{"no_bias", {3, 8, 40, 16, 8, 40, 3, 3, 1, 1, 1, 1}, false, -kInfinite},
                      Case{"bounds", {3, 8, 40, 16, 8, 40, 3, 3, 1, 1, 1, 1}, true, -2, 6}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace millrace::device::cpu::kernels::few_channels
