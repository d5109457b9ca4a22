#include <gmock/gmock.h>

#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::Array;
using test::array;
using test::Attributes;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Array kPicture = array<float>({1, 1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});

Array region(const std::vector<float>& corners) {
  return array<float>({1, 4}, corners);
}
Attributes align(const char* coordinates, const char* mode, int64_t ratio) {
  return {{"coordinate_transformation_mode", std::string(coordinates)},
          {"mode", std::string(mode)},
          {"output_height", int64_t{1}},
          {"output_width", int64_t{2}},
          {"sampling_ratio", ratio}};
}
std::vector<float> aligned(const std::vector<float>& corners, const Attributes& attributes) {
  return compute("RoiAlign", {kPicture, region(corners), vector_of<int64_t>({0})}, attributes)
      .as<float>();
}

// One sample in the middle of each bin: at columns 0.5 and 1.5 of row 0.5, or half an element
// before.
TEST(FallbackRoiAlign, SamplesTheMiddleOfEachBin) {
  EXPECT_THAT(aligned({0, 0, 2, 1}, align("output_half_pixel", "avg", 1)), ElementsAre(2.5f, 3.5f));
  EXPECT_THAT(aligned({0, 0, 2, 1}, align("half_pixel", "avg", 1)), ElementsAre(0, 1));
}

// The standard takes the largest of the weighed neighbours, before they are added.
TEST(FallbackRoiAlign, TakesTheLargestPartOfASample) {
  EXPECT_THAT(aligned({0, 0, 2, 1}, align("output_half_pixel", "max", 1)),
              ElementsAre(1.25f, 1.5f));
}

TEST(FallbackRoiAlign, TakesRegionsFromAnywhere) {
  const auto adaptive = align("half_pixel", "avg", 0);
  EXPECT_THAT(aligned({1e6f, 1e6f, 2e6f, 2e6f}, adaptive), Each(0.0f));
  EXPECT_THAT(aligned({3, 1, 0, 0}, adaptive), Each(0.0f));  // an inverted one has no samples
  // Among very many samples, those on the picture are found at once; the mean of all is nearly 0.
  EXPECT_LT(aligned({-1e9f, -1e9f, 1e9f, 1e9f}, adaptive)[0], 1e-6f);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {infinity, std::numeric_limits<float>::quiet_NaN(), 3e38f})
    EXPECT_EQ(
        refusal("RoiAlign", {kPicture, region({-x, 0, x, 1}), vector_of<int64_t>({0})}, adaptive)
            .code(),
        StatusCode::kInvalidArgument);
}

TEST(FallbackRoiAlign, RefusesPicturesThatAreNotThere) {
  for (const int64_t batch : {int64_t{-1}, int64_t{1}, std::numeric_limits<int64_t>::max()})
    EXPECT_THAT(refusal("RoiAlign", {kPicture, region({0, 0, 1, 1}), vector_of<int64_t>({batch})})
                    .message(),
                HasSubstr("to image"));
  EXPECT_THAT(refusal("RoiAlign", {kPicture, region({0, 0, 1, 1}), vector_of<int64_t>({0})},
                      align("half_pixel", "avg", int64_t{1} << 40))
                  .message(),
              HasSubstr("out of range"));
}

TEST(FallbackMaxRoiPool, PoolsWholeElements) {
  const Attributes pooled = {{"pooled_shape", Dims{1, 2}}};
  const auto pool = [&](const std::vector<float>& numbers) {
    return compute("MaxRoiPool", {kPicture, array<float>({1, 5}, numbers)}, pooled).as<float>();
  };
  EXPECT_THAT(pool({0, 0, 0, 3, 1}), ElementsAre(5, 7));
  EXPECT_THAT(pool({0, 10, 10, 20, 20}), ElementsAre(0, 0));
  EXPECT_THAT(pool({0, -1e30f, -1e30f, 1e30f, 1e30f}), ElementsAre(4, 7));
  for (const float batch : {-1.0f, 1.0f, std::numeric_limits<float>::quiet_NaN()})
    EXPECT_THAT(refusal("MaxRoiPool", {kPicture, array<float>({1, 5}, {batch, 0, 0, 1, 1})}, pooled)
                    .message(),
                HasSubstr("to image"));
}

// Returns a crop of one row and some columns.
std::vector<float> cropped(const std::vector<float>& corners, int32_t columns,
                           const Attributes& attributes = {}) {
  return compute(
             "com.microsoft.CropAndResize",
             {kPicture, region(corners), vector_of<int32_t>({0}), vector_of<int32_t>({1, columns})},
             attributes)
      .as<float>();
}

// The row of the crop is the middle of the rows from y1 to y2.
TEST(FallbackCropAndResize, AlignsTheCorners) {
  EXPECT_THAT(cropped({0, 0, 0, 1}, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(cropped({0, 0, 1, 1}, 2), ElementsAre(2, 5));
  EXPECT_THAT(cropped({1, 1, 1, 0}, 3), ElementsAre(7, 5.5f, 4));
  EXPECT_THAT(cropped({0, 0, 0, 1}, 1), ElementsAre(1.5f));
}

TEST(FallbackCropAndResize, TakesTheNearestElement) {
  const Attributes nearest = {{"mode", std::string("nearest")}};
  EXPECT_THAT(cropped({0, .2f, 0, .8f}, 2, nearest), ElementsAre(1, 2));
}

TEST(FallbackCropAndResize, FillsWhatIsOutsideOfTheImage) {
  const Attributes filled = {{"extrapolation_value", -1.0f}};
  EXPECT_THAT(cropped({0, -1, 0, 1}, 3, filled), ElementsAre(-1, 0, 3));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(cropped({nan, 0, 0, 1}, 2, filled), Each(-1));
}

TEST(FallbackCropAndResize, RefusesWhatDoesNotFit) {
  const auto refused = [](int32_t image, const std::vector<int32_t>& size,
                          const Attributes& attributes = {}) {
    return refusal("com.microsoft.CropAndResize",
                   {kPicture, region({0, 0, 1, 1}), vector_of<int32_t>({image}),
                    vector_of<int32_t>(size)},
                   attributes)
        .message();
  };
  EXPECT_THAT(refused(1, {1, 1}), HasSubstr("to image 1"));
  EXPECT_THAT(refused(0, {1, 0}), HasSubstr("crop_size"));
  EXPECT_THAT(refused(0, {1}), HasSubstr("crop_size"));
  EXPECT_THAT(refused(0, {1, 1}, {{"mode", std::string("cubic")}}), HasSubstr("cubic"));
}

}  // namespace
}  // namespace millrace::fallback
