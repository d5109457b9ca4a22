// The loops for convolutions from one channel to one, against their definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "device/cpu/kernels/one_channel/loops.h"
#include "tensor/half.h"
#include "tests/device_cpu/at_page_end.h"
#include "tests/device_cpu/reference.h"

namespace millrace::device::cpu::kernels::one_channel {
namespace {

// Small integers, so that sums are exact.
std::vector<float> integers(size_t count, uint32_t seed) {
  std::vector<float> numbers;
  for (const float number : Tensor::numbers({static_cast<int64_t>(count)}, seed).data)
    numbers.push_back(static_cast<float>(static_cast<int>(number * 8)));
  return numbers;
}

float expected(const Geometry& g, const Filter& filter, const std::vector<float>& image, size_t row,
               size_t column) {
  float sum = filter.bias;
  for (size_t y = 0; y < g.taps_y; ++y)
    for (size_t x = 0; x < g.taps_x; ++x) {
      // Beyond the image also where they are below 0.
      const size_t from_row = row + y - g.above, from_column = column + x - g.left;
      if (from_row < g.height && from_column < g.width)
        sum += filter.taps[y * g.taps_x + x] * image[from_row * g.width + from_column];
    }
  return std::clamp(sum, filter.least, filter.most);
}

uint16_t stored(float number, uint16_t) {
  return tensor::float_to_bf16(number);
}
float stored(float number, float) {
  return number;
}

template <class Number>
void expect_convolution(const Geometry& g, const Filter& filter) {
  const std::vector<float> image = integers(g.height * g.width, 3);
  std::vector<Number> as_stored;
  for (const float number : image) as_stored.push_back(stored(number, Number{}));
  AtPageEnd from(as_stored), to(std::vector<Number>(g.out_height * g.out_width));
  // Two parts, each with scratch of its own, whose contents do not matter.
  const size_t half = g.out_height / 2;
  AtPageEnd scratch(std::vector<float>(g.scratch_floats(), 7.0F));
  run(g, filter, Work<Number>{from.data(), to.data(), scratch.data(), half, g.out_height - half});
  run(g, filter, Work<Number>{from.data(), to.data(), scratch.data(), 0, half});
  for (size_t row = 0; row < g.out_height; ++row)
    for (size_t column = 0; column < g.out_width; ++column)
      ASSERT_EQ(to.data()[row * g.out_width + column],
                stored(expected(g, filter, image, row, column), Number{}))
          << "row " << row << ", column " << column;
}

TEST(OneChannel, IsTheSumOverTheWindow) {
  struct Window {
    size_t taps_y, taps_x, above, left, below, right;
  };
  for (const Window& w : {Window{3, 3, 1, 1, 1, 1}, Window{1, 7, 0, 3, 0, 3},
                          Window{5, 2, 0, 0, 4, 3}, Window{2, 3, 5, 4, 0, 1}})
    for (const size_t width : {7, 8, 15, 16, 17, 31, 33, 40}) {
      SCOPED_TRACE(testing::Message() << w.taps_y << "x" << w.taps_x << " of width " << width);
      const size_t height = 6;
      const Geometry g{.height = height,
                       .width = width,
                       .out_height = height + w.above + w.below - w.taps_y + 1,
                       .out_width = width + w.left + w.right - w.taps_x + 1,
                       .taps_y = w.taps_y,
                       .taps_x = w.taps_x,
                       .above = w.above,
                       .left = w.left};
      const Filter filter{integers(w.taps_y * w.taps_x, 5), 2, -60, 100};
      expect_convolution<float>(g, filter);
      expect_convolution<uint16_t>(g, filter);
    }
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::one_channel
