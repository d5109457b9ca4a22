// Outputs of 8 bits count as real numbers, and boxes beside the photo are left out.
#include "cli/detections/photo_detections.h"

#include <gtest/gtest.h>

#include <string>

#include "io/file.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

TEST(DetectorOutput, BytesAreTheRealNumbersThatTheyStandFor) {
  graph::CompiledModel model;
  model.graph.values.resize(2);
  model.graph.values[1].quantisation = graph::Quantisation{{0.5F}, {10}, 0};
  graph::Boundary boundary;
  boundary.value = 1;
  boundary.cpu = tensor::make_cpu_desc("output", tensor::DataType::kUint8, {1, 3});
  EXPECT_EQ(cli::detector_output(model, boundary, {10, 12, 0}).values,
            (std::vector<float>{0, 1, -5}));
  boundary.value = 0;
  EXPECT_EQ(cli::detector_output(model, boundary, {10, 12, 0}).values,
            (std::vector<float>{10, 12, 0}))
      << "a value that is not quantised, such as a class";
}

// The photo fills the middle third of the square input.
TEST(PhotoDetections, BoxesInTheBorderOfALetterboxAreLeftOut) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("wide.pgm");
  const std::string grey = "P5\n30 10\n255\n" + std::string(300, '\x60');
  ASSERT_TRUE(io::write_file(path, std::as_bytes(std::span(grey))).ok());
  const auto canvas = io::Canvas::open(path);
  ASSERT_TRUE(canvas.ok()) << canvas.status().message();
  const cli::DetectorOutput rows{
      tensor::make_cpu_desc("output0", tensor::DataType::kFloat32, {1, 2, 6}),
      {2, 2, 20, 8, 0.9F, 1, 3, 12, 9, 16, 0.8F, 2}};
  const vision::FitOptions letterbox{
      .fit = vision::Fit::kLetterbox, .symmetric_padding = true, .short_side = 0};
  const auto found = cli::detections_on_photo(
      std::span(&rows, 1),
      tensor::make_cpu_desc("image", tensor::DataType::kFloat32, {1, 3, 30, 30}), letterbox,
      *canvas, 0.5F, {});
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ((*found)[0].object_class, 2u);
  EXPECT_NEAR((*found)[0].top, 2, 1e-3);
  EXPECT_NEAR((*found)[0].bottom, 6, 1e-3);
}

}  // namespace
}  // namespace millrace::test
