// The worked examples of the layout rules, written out element by element.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tensor/conversion/conversion.h"

namespace millrace::tensor {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

template <class T>
std::vector<T> to_hw(const TensorDesc& cpu, const TensorDesc& hw, const std::vector<float>& values,
                     const QuantParams& quant = {}) {
  const auto conversion = Conversion::plan(cpu, hw, quant);
  EXPECT_TRUE(conversion.ok()) << conversion.status().to_string();
  // Filled with something other than zero, so that missing zeros in the padding are noticed.
  std::vector<T> result(hw.elements(), T(85));
  EXPECT_EQ(result.size() * sizeof(T), hw.bytes());
  conversion->to_hw(values.data(), result.data());
  return result;
}

TEST(ConversionExamples, ThreeChannelsInBlocksOfFour) {
  const TensorDesc cpu = make_cpu_desc("x", DataType::kFloat32, {1, 3, 2, 2});
  const TensorDesc hw = *make_hw_desc(cpu, DataType::kInt8);
  EXPECT_THAT(hw.shape, ElementsAre(2, 1, 2, 1, 4));
  std::vector<float> values(12);
  std::iota(values.begin(), values.end(), 1.0f);
  EXPECT_THAT(to_hw<int8_t>(cpu, hw, values),
              ElementsAre(1, 5, 9, 0, 2, 6, 10, 0, 3, 7, 11, 0, 4, 8, 12, 0));
}

TEST(ConversionExamples, TenChannelsInBlocksOfEight) {
  const TensorDesc cpu = make_cpu_desc("x", DataType::kFloat32, {1, 10, 1, 2});
  const TensorDesc hw = *make_hw_desc(cpu, DataType::kInt16);
  EXPECT_EQ(hw.layout, Layout::kHcwnc8);
  EXPECT_THAT(hw.shape, ElementsAre(1, 2, 2, 1, 8));
  std::vector<float> values;
  for (int c = 0; c < 10; ++c)
    for (int w = 0; w < 2; ++w) values.push_back(static_cast<float>(100 * c + w));
  EXPECT_THAT(to_hw<int16_t>(cpu, hw, values),
              ElementsAreArray({0,   100, 200, 300, 400, 500, 600, 700, 1, 101, 201,
                                301, 401, 501, 601, 701, 800, 900, 0,   0, 0,   0,
                                0,   0,   801, 901, 0,   0,   0,   0,   0, 0}));
}

TEST(ConversionExamples, ThousandChannelsOfOnePixelStayInOrder) {
  const TensorDesc cpu = make_cpu_desc("x", DataType::kFloat32, {1, 1000, 1, 1});
  const TensorDesc hw = *make_hw_desc(cpu, DataType::kUint16, Layout::kHcwnc16);
  EXPECT_THAT(hw.shape, ElementsAre(1, 63, 1, 1, 16));
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 1.0f);
  const std::vector<uint16_t> actual = to_hw<uint16_t>(cpu, hw, values);
  ASSERT_EQ(actual.size(), 1008u);
  for (size_t c = 0; c < 1008; ++c) EXPECT_EQ(actual[c], c < 1000 ? c + 1 : 0) << c;
}

TEST(ConversionExamples, GenericOrderNamesDimensionsOfTheCpuView) {
  const TensorDesc cpu{"x", DataType::kFloat32, Layout::kGeneric, {0, 1, 2, 3}, {1, 2, 3, 4}};
  const TensorDesc hw{"x", DataType::kUint8, Layout::kGeneric, {0, 3, 1, 2}, {1, 4, 2, 3}};
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.0f);
  EXPECT_THAT(to_hw<uint8_t>(cpu, hw, values),
              ElementsAre(0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11,
                          15, 19, 23));
}

TEST(ConversionExamples, FourChannelsAreAnImageWithFourBytesPerPixel) {
  const TensorDesc cpu = make_cpu_desc("x", DataType::kFloat32, {1, 3, 224, 224});
  EXPECT_EQ(make_hw_desc(cpu, DataType::kInt8)->bytes(), 200704u);
  EXPECT_EQ(make_hw_desc(cpu, DataType::kBf16)->bytes(), 401408u);
}

TEST(ConversionExamples, QuantisesByScaleAndZeroPoint) {
  const TensorDesc cpu = make_cpu_desc("x", DataType::kFloat32, {6});
  const TensorDesc hw = *make_hw_desc(cpu, DataType::kUint8);
  const std::vector<float> values = {0.0f, 0.25f, 0.75f, -100.0f, 1e30f, 63.5f};
  EXPECT_THAT(to_hw<uint8_t>(cpu, hw, values, {0.5, 128}), ElementsAre(128, 128, 130, 0, 255, 255));
  EXPECT_THAT(to_hw<uint8_t>(cpu, hw, values, {0.5, 128, Rounding::kTowardZero}),
              ElementsAre(128, 128, 129, 0, 255, 255));
}

TEST(ConversionExamples, PaddingIsTheValueZero) {
  const TensorDesc cpu = make_cpu_desc("x", DataType::kFloat32, {1, 1, 1, 4});
  const TensorDesc hw = *make_hw_desc(cpu, DataType::kUint8);
  EXPECT_THAT(to_hw<uint8_t>(cpu, hw, {1, 2, 3, 4}, {1.0, 7}),
              ElementsAre(8, 7, 7, 7, 9, 7, 7, 7, 10, 7, 7, 7, 11, 7, 7, 7));
}

}  // namespace
}  // namespace millrace::tensor
