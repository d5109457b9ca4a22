#include "tensor/desc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace millrace::tensor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Shape = std::vector<uint32_t>;

TensorDesc hw_of(Shape shape, DataType type, std::optional<Layout> layout = std::nullopt) {
  const auto result = make_hw_desc(make_cpu_desc("x", DataType::kFloat32, shape), type, layout);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return *result;
}

TEST(Desc, CpuViewOfAnImageIsNchw) {
  const TensorDesc cpu = make_cpu_desc("input", DataType::kFloat32, {1, 3, 224, 224});
  EXPECT_EQ(cpu.name, "input");
  EXPECT_EQ(cpu.layout, Layout::kNchw);
  EXPECT_THAT(cpu.order, IsEmpty());
  EXPECT_EQ(cpu.elements(), 150528u);
  EXPECT_EQ(cpu.bytes(), 602112u);
  EXPECT_THAT(cpu.strides(), ElementsAre(150528, 50176, 224, 1));
}

TEST(Desc, CpuViewOfAnythingElseIsGeneric) {
  const TensorDesc cpu = make_cpu_desc("output", DataType::kFloat32, {1, 1000});
  EXPECT_EQ(cpu.layout, Layout::kGeneric);
  EXPECT_THAT(cpu.order, ElementsAre(0, 1));
  const TensorDesc scalar = make_cpu_desc("s", DataType::kInt64, {});
  EXPECT_EQ(scalar.elements(), 1u);
  EXPECT_EQ(scalar.bytes(), 8u);
  EXPECT_THAT(scalar.strides(), IsEmpty());
}

TEST(Desc, ImageWithThreeChannelsInBf16) {
  const TensorDesc hw = hw_of({1, 3, 224, 224}, DataType::kBf16);
  EXPECT_THAT(hw.shape, ElementsAre(224, 1, 224, 1, 4));
  EXPECT_EQ(hw.layout, Layout::kHcwnc4);
  EXPECT_EQ(hw.type, DataType::kBf16);
  EXPECT_EQ(hw.name, "x");
  EXPECT_EQ(hw.bytes(), 401408u);
  EXPECT_THAT(hw.strides(), ElementsAre(896, 896, 4, 4, 1));
}

TEST(Desc, BlockFollowsChannelsAndType) {
  EXPECT_EQ(hw_of({1, 4, 2, 2}, DataType::kInt8).layout, Layout::kHcwnc4);
  EXPECT_EQ(hw_of({1, 5, 2, 2}, DataType::kInt8).layout, Layout::kHcwnc16);
  EXPECT_EQ(hw_of({1, 5, 2, 2}, DataType::kBf16).layout, Layout::kHcwnc8);
  EXPECT_EQ(hw_of({1, 5, 2, 2}, DataType::kFloat32).layout, Layout::kHcwnc8);
  EXPECT_THAT(hw_of({2, 17, 3, 5}, DataType::kUint8).shape, ElementsAre(3, 2, 5, 2, 16));
}

TEST(Desc, OtherRanksKeepTheOrderOfTheCpuView) {
  const TensorDesc hw = hw_of({1, 1000}, DataType::kBf16);
  EXPECT_EQ(hw.layout, Layout::kGeneric);
  EXPECT_THAT(hw.order, ElementsAre(0, 1));
  EXPECT_THAT(hw.shape, ElementsAre(1, 1000));
  EXPECT_THAT(hw_of({}, DataType::kBf16).shape, IsEmpty());
}

TEST(Desc, OverridesPermuteTheShape) {
  EXPECT_THAT(hw_of({1, 2, 3, 4}, DataType::kInt8, Layout::kNhwc).shape, ElementsAre(1, 3, 4, 2));
  EXPECT_THAT(hw_of({1, 2, 3, 4}, DataType::kInt8, Layout::kNchw).shape, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(hw_of({1, 2, 3, 4}, DataType::kInt8, Layout::kHcwnc16).shape,
              ElementsAre(3, 1, 4, 1, 16));
  EXPECT_THAT(hw_of({1, 2, 3}, DataType::kInt8, Layout::kNhc).shape, ElementsAre(1, 3, 2));
  EXPECT_THAT(hw_of({1, 2, 3}, DataType::kInt8, Layout::kNwc).shape, ElementsAre(1, 3, 2));
  EXPECT_THAT(hw_of({1, 2, 3}, DataType::kInt8, Layout::kNch).shape, ElementsAre(1, 2, 3));
  EXPECT_THAT(hw_of({1, 2, 3}, DataType::kInt8, Layout::kNhw).shape, ElementsAre(1, 2, 3));
  EXPECT_THAT(hw_of({1, 2}, DataType::kInt8, Layout::kNc).shape, ElementsAre(1, 2));
  EXPECT_THAT(hw_of({1, 2}, DataType::kInt8, Layout::kNc).order, IsEmpty());
  const TensorDesc generic = hw_of({1, 2, 3, 4}, DataType::kInt8, Layout::kGeneric);
  EXPECT_THAT(generic.shape, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(generic.order, ElementsAre(0, 1, 2, 3));
}

TEST(Desc, RefusesLayoutsThatTheRankCannotHave) {
  const auto refuse = [](Shape shape, Layout layout) {
    const auto result =
        make_hw_desc(make_cpu_desc("logits", DataType::kFloat32, shape), DataType::kBf16, layout);
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument) << to_string(layout);
    return result.status().message();
  };
  EXPECT_THAT(refuse({1, 1000}, Layout::kHcwnc4),
              testing::AllOf(HasSubstr("logits"), HasSubstr("rank 2"), HasSubstr("HCWNC4")));
  refuse({1, 2, 3}, Layout::kNhwc);
  refuse({1, 2, 3, 4}, Layout::kNc);
  refuse({1, 2, 3, 4}, Layout::kUnknown);
  refuse({1, 2, 3, 4}, static_cast<Layout>(77));
  for (const Layout layout : {Layout::kNhwc4, Layout::kNc8hw8, Layout::kNh2c4hwc})
    EXPECT_THAT(refuse({1, 8, 32, 32}, layout), HasSubstr("not supported"));
}

TEST(Desc, RefusesAHwViewWithoutType) {
  const TensorDesc cpu = make_cpu_desc("x", DataType::kFloat32, {1, 3, 4, 4});
  EXPECT_EQ(make_hw_desc(cpu, DataType::kUnknown).status().code(), StatusCode::kInvalidArgument);
}

TEST(Desc, SizesThatDoNotFitSaturate) {
  const TensorDesc huge = make_cpu_desc("x", DataType::kInt64, Shape(4, 0xffffffffu));
  EXPECT_EQ(huge.elements(), std::numeric_limits<size_t>::max());
  EXPECT_EQ(huge.bytes(), std::numeric_limits<size_t>::max());
  EXPECT_EQ(
      make_cpu_desc("x", DataType::kInt64, {0xffffffffu, 0xffffffffu, 0xffffffffu, 0}).bytes(), 0u);
}

}  // namespace
}  // namespace millrace::tensor
