// Outputs of segmentation networks become classes of the photo's parts, and pictures are refused.
#include "cli/detections/masks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "cli/detections/class_map.h"
#include "cli/detections/photo_detections.h"
#include "cli/detections/photo_segments.h"
#include "io/file.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

using cli::DetectorOutput;
using Classes = std::vector<uint32_t>;

constexpr cli::InputSize kWideInput{.width = 4, .height = 2};

DetectorOutput map_output(std::vector<uint32_t> shape, std::vector<float> values) {
  return {tensor::make_cpu_desc("map", tensor::DataType::kFloat32, std::move(shape)),
          std::move(values)};
}

Classes classes_in(const std::vector<DetectorOutput>& outputs,
                   const cli::InputSize& input = kWideInput) {
  const auto map = cli::class_map_in(outputs, input, 0.5F);
  EXPECT_TRUE(map.has_value());
  return map ? map->classes : Classes();
}

bool is_refused(const std::vector<DetectorOutput>& outputs,
                const cli::InputSize& input = kWideInput) {
  return !cli::class_map_in(outputs, input, 0.5F).has_value();
}

TEST(ClassMap, TheGreatestScoreOfACellIsItsClass) {
  const Classes expected = {1, 0, 0, 1, 1, 1, 0, 0};
  EXPECT_EQ(
      classes_in({map_output({1, 2, 2, 4}, {0, 5, 5, 0, 0, 0, 5, 5, 1, -1, 1, 9, 1, 1, 1, 1})}),
      expected);
  EXPECT_EQ(
      classes_in({map_output({1, 2, 4, 2}, {0, 1, 5, -1, 5, 1, 0, 9, 0, 1, 0, 1, 5, 1, 5, 1})}),
      expected)
      << "channels last";
  EXPECT_EQ(classes_in({map_output({1, 2, 2, 4}, {0, 5, 5, 0, 0, 0, 5, 5, 1, -1, 1, 9, 1, 1, 1, 1}),
                        map_output({1, 7, 1, 2}, std::vector<float>(14))}),
            expected)
      << "an auxiliary map may follow";
}

TEST(ClassMap, WholeNumbersAreClassesAndScoresAForeground) {
  for (const std::vector<uint32_t>& shape :
       {std::vector<uint32_t>{1, 1, 2}, {1, 1, 1, 2}, {1, 1, 2, 1}}) {
    EXPECT_EQ(classes_in({map_output(shape, {17, 0})}), (Classes{17, 0}));
    EXPECT_EQ(classes_in({map_output(shape, {0.6F, 0.2F})}), (Classes{1, 0}));
  }
}

TEST(ClassMap, WhatMayHaveAnotherMeaningIsRefused) {
  EXPECT_TRUE(is_refused({}));
  EXPECT_TRUE(is_refused({map_output({1, 3, 1, 2}, {90, 200, 10, 7, 255, 3})})) << "a picture";
  EXPECT_TRUE(is_refused({map_output({1, 1, 2}, {-3.5F, 40.25F})})) << "depth";
  EXPECT_TRUE(is_refused({map_output({1, 1, 2}, {NAN, 1})}));
  EXPECT_TRUE(is_refused({map_output({1, 1, 2}, {1e9F, 1})}));
  EXPECT_TRUE(is_refused({map_output({1, 2, 8, 16}, std::vector<float>(256))}, {8, 16}))
      << "in neither layout has it the form of the input";
  EXPECT_TRUE(is_refused({map_output({1, 2, 1, 1}, {1, 2})}, {16, 16})) << "too coarse";
  EXPECT_TRUE(is_refused({map_output({1, 2}, {1, 0})}));
  EXPECT_TRUE(is_refused({map_output({1, 1, 2}, {1, 0}), map_output({1, 6}, {1, 2, 3, 4, 5, 6})}))
      << "an output without a map";
  EXPECT_TRUE(is_refused({map_output({1, 1, 2}, {1})})) << "fewer values than cells";
}

// A grey photo of this size.
io::Canvas grey_photo(const TemporaryDirectory& directory, uint32_t width, uint32_t height) {
  const std::string grey = "P5\n" + std::to_string(width) + " " + std::to_string(height) +
                           "\n255\n" + std::string(size_t{width} * height, '\x60');
  const std::string path = directory.file("grey.pgm");
  EXPECT_TRUE(io::write_file(path, std::as_bytes(std::span(grey))).ok());
  auto canvas = io::Canvas::open(path);
  EXPECT_TRUE(canvas.ok()) << canvas.status().message();
  return *std::move(canvas);
}

// The photo fills the upper half of the input, whose lower half is padding.
TEST(PhotoSegments, SharesAreThoseOfThePhoto) {
  const TemporaryDirectory directory;
  io::Canvas photo = grey_photo(directory, 20, 10);
  const vision::FitOptions letterbox{
      .fit = vision::Fit::kLetterbox, .symmetric_padding = false, .short_side = 0};
  const cli::ClassMap map{2, 4, {0, 0, 0, 7, 9, 9, 9, 9}};
  const auto segments = cli::draw_segments(
      map, tensor::make_cpu_desc("image", tensor::DataType::kFloat32, {1, 3, 20, 20}), letterbox,
      {"background"}, photo);
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].label, "background");
  EXPECT_DOUBLE_EQ(segments[0].share, 0.75);
  EXPECT_EQ(segments[1].object_class, 7u);
  EXPECT_EQ(segments[1].label, "");
  EXPECT_DOUBLE_EQ(segments[1].share, 0.25);
}

// Eight candidates with two prototypes: the left half, and the upper half. The first has both, and
// is where their sum is positive; the second box overlaps it and is dropped.
TEST(Masks, AreTheWeightedPrototypesWithinTheBox) {
  const std::vector<std::vector<float>> rows = {
      {4, 4, 1, 1, 1, 1, 1, 1},  {4, 4, 1, 1, 1, 1, 1, 1}, {8, 7, 1, 1, 1, 1, 1, 1},
      {4, 4, 1, 1, 1, 1, 1, 1},  {0, 0, 0, 0, 0, 0, 0, 0}, {.9F, .8F, 0, 0, 0, 0, 0, 0},
      {1, -1, 0, 0, 0, 0, 0, 0}, {1, -1, 0, 0, 0, 0, 0, 0}};
  // There must be more columns than rows.
  std::vector<float> wide;
  for (size_t row = 0; row < rows.size(); ++row) {
    wide.insert(wide.end(), rows[row].begin(), rows[row].end());
    wide.insert(wide.end(), 2, row < 4 ? 1.0F : 0.0F);
  }
  std::vector<float> prototypes;
  for (int prototype = 0; prototype < 2; ++prototype)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 4; ++x)
        prototypes.push_back((prototype == 0 ? x < 2 : y < 2) ? 1.0F : -0.5F);
  const DetectorOutput columns{
      tensor::make_cpu_desc("output0", tensor::DataType::kFloat32, {1, 8, 10}), wide};
  const DetectorOutput masks{
      tensor::make_cpu_desc("output1", tensor::DataType::kFloat32, {1, 2, 4, 4}), prototypes};
  for (const std::vector<DetectorOutput>& outputs :
       {std::vector<DetectorOutput>{columns, masks}, {masks, columns}}) {
    const TemporaryDirectory directory;
    const io::Canvas photo = grey_photo(directory, 16, 16);
    const auto found = cli::detections_on_photo(
        outputs, tensor::make_cpu_desc("image", tensor::DataType::kFloat32, {1, 3, 8, 8}), {},
        photo, 0.5F, {});
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_EQ(found->size(), 1u);
    EXPECT_EQ((*found)[0].object_class, 1u);
    // The box covers the upper half of the photo and more: rows 4 to 12, of 16.
    uint64_t pixels = 0;
    for (const cli::PixelRun& run : (*found)[0].mask) {
      EXPECT_GE(run.row, 4u);
      EXPECT_LT(run.row, 12u);
      EXPECT_EQ(run.left, 0u);
      EXPECT_EQ(run.right, run.row < 8 ? 16u : 8u) << run.row;
      pixels += run.right - run.left;
    }
    EXPECT_EQ(pixels, 4u * 16 + 4 * 8);
  }
}

}  // namespace
}  // namespace millrace::test
