// Transposed convolutions.
#include <gtest/gtest.h>

#include "tests/device_cpu/accelerated/as_plain.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;

struct Window {
  const char* name;
  Dims x, weights;  // [N, C, ...] and [C, M / groups, ...]
  std::vector<graph::Attribute> attributes = {};
};

class FastConvTranspose : public ::testing::TestWithParam<Window> {};

TEST_P(FastConvTranspose, GivesWhatThePlainKernelGives) {
  const Window& window = GetParam();
  int64_t groups = 1;
  for (const auto& attribute : window.attributes)
    if (attribute.name == "group") groups = std::get<int64_t>(attribute.value);
  const graph::Fallback op{"ConvTranspose", window.attributes};
  const Given x = input_of(window.x, 1), weights = constant_of(window.weights, 2);
  expect_as_plain({op, {x, weights, constant_of({window.weights[1] * groups}, 3)}});
  expect_as_plain({op, {x, weights}});
}

INSTANTIATE_TEST_SUITE_P(
    Windows, FastConvTranspose,
    ::testing::Values(
        Window{"line", {1, 16, 9}, {16, 8, 4}, {{"strides", Dims{2}}}},
        Window{"few_channels", {2, 3, 5, 6}, {3, 5, 3, 3}},
        Window{"stride_and_padding",
               {1, 20, 7, 5},
               {20, 12, 4, 4},
               {{"pads", Dims{1, 1, 1, 1}}, {"strides", Dims{2, 2}}}},
        Window{"uneven_padding",
               {1, 16, 6, 6},
               {16, 16, 3, 3},
               {{"pads", Dims{0, 1, 2, 0}}, {"strides", Dims{2, 3}}}},
        Window{
            "output_padding",
            {1, 16, 5, 5},
            {16, 16, 3, 3},
            {{"output_padding", Dims{1, 1}}, {"pads", Dims{1, 1, 1, 1}}, {"strides", Dims{2, 2}}}},
        Window{"output_shape",
               {1, 16, 5, 5},
               {16, 16, 3, 3},
               {{"output_shape", Dims{10, 9}}, {"strides", Dims{2, 2}}}},
        Window{"dilations", {1, 16, 5, 6}, {16, 16, 3, 2}, {{"dilations", Dims{2, 3}}}},
        Window{"groups",
               {1, 32, 4, 5},
               {32, 8, 3, 3},
               {{"group", int64_t{2}}, {"strides", Dims{2, 2}}}},
        Window{"depthwise",
               {1, 16, 6, 5},
               {16, 1, 4, 4},
               {{"group", int64_t{16}}, {"pads", Dims{1, 1, 1, 1}}, {"strides", Dims{2, 2}}}},
        Window{"one_by_one", {1, 16, 4, 4}, {16, 32, 1, 1}},
        Window{"volume", {1, 16, 3, 4, 5}, {16, 16, 2, 3, 2}, {{"strides", Dims{2, 1, 2}}}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(FastConvTranspose, TakesWeightsThatAreComputed) {
  expect_as_plain({{"ConvTranspose", {{"group", int64_t{2}}, {"strides", Dims{2, 2}}}},
                   {input_of({1, 32, 4, 5}, 1), input_of({32, 8, 3, 3}, 2), input_of({16}, 3)}});
}

// The library would find one more position of the window than there is.
TEST(FastConvTranspose, LeavesOutputPaddingOfAStrideToThePlainKernel) {
  expect_left_to_plain(
      {{"ConvTranspose", {{"dilations", Dims{3, 3}}, {"output_padding", Dims{2, 2}}}},
       {input_of({1, 16, 5, 5}, 1), constant_of({16, 16, 2, 2}, 2)}});
}

}  // namespace
}  // namespace millrace::device::cpu
