#include "vision/postprocess/segmentation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace millrace::vision {
namespace {

using ::testing::ElementsAre;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

CellLayout layout(const std::vector<uint32_t>& shape, const char* name) {
  return *cell_layout(shape, name);
}

TEST(Segmentation, EachPixelHasItsBestClass) {
  const std::vector<float> scores = {1, 2, 3, 9, 2, 3, 5, 5, 0, -1, kNan, -2};
  EXPECT_THAT(class_map(scores, layout({1, 2, 2, 3}, "NHWC")), ElementsAre(2, 0, 0, 0));
  EXPECT_THAT(class_map(scores, layout({1, 3, 2, 2}, "NCHW")), ElementsAre(1, 1, 1, 0));
}

TEST(Segmentation, NanLosesAgainstEveryNumber) {
  const std::vector<float> scores = {kNan, -5, kNan, kNan};
  EXPECT_THAT(class_map(scores, layout({1, 1, 2, 2}, "NHWC")), ElementsAre(1, 0));
}

TEST(Segmentation, SingleChannelIsOneFromAHalfOn) {
  const std::vector<float> scores = {-0.1F, 0, 7, kNan};
  EXPECT_THAT(binary_map(scores, layout({1, 2, 2, 1}, "NHWC")), ElementsAre(0, 1, 1, 0));
}

}  // namespace
}  // namespace millrace::vision
