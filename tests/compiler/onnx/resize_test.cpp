#include <gtest/gtest.h>

#include "tests/compiler/onnx_builder.h"

namespace millrace::compiler::test {
namespace {

using graph::CoordinateMode;
using graph::NearestMode;
using graph::ResizeMode;

graph::Resize resized(const Model& model) {
  const auto graph = import_valid(model);
  if (graph.nodes.size() != 1) return {};
  return std::get<graph::Resize>(graph.nodes[0].op);
}

Model image(int opset) {
  Model model(opset);
  return model.input("x", {1, 2, 4, 6}).output("y");
}

const graph::Resize kDoubled{ResizeMode::kNearest,
                             CoordinateMode::kAsymmetric,
                             NearestMode::kFloor,
                             {1, 2, 8, 12},
                             {1, 1, 2, 2}};

TEST(ResizeImport, OldFormsAreAsymmetricAndTakeScales) {
  const Floats scales = {1, 1, 2, 2};
  EXPECT_EQ(resized(image(7).node("Upsample", {"x"}, {"y"}, {{"scales", scales}})), kDoubled);
  EXPECT_EQ(resized(image(9).floats("s", {4}, scales).node("Upsample", {"x", "s"}, {"y"})),
            kDoubled);
  EXPECT_EQ(resized(image(10).floats("s", {4}, scales).node("Resize", {"x", "s"}, {"y"})),
            kDoubled);
  // A picture that shrinks takes the element above.
  const auto half =
      resized(image(10).floats("s", {4}, {1, 1, 0.5, 0.5}).node("Resize", {"x", "s"}, {"y"}));
  EXPECT_EQ(half.nearest, NearestMode::kCeil);
  EXPECT_EQ(half.shape, (Dims{1, 2, 2, 3}));
}

TEST(ResizeImport, ModesFromOpset11) {
  const auto defaults =
      resized(image(11).floats("s", {4}, {1, 1, 2, 2}).node("Resize", {"x", "", "s"}, {"y"}));
  EXPECT_EQ(defaults, (graph::Resize{ResizeMode::kNearest,
                                     CoordinateMode::kHalfPixel,
                                     NearestMode::kRoundPreferFloor,
                                     {1, 2, 8, 12},
                                     {1, 1, 2, 2}}));
  const auto stated = resized(image(13)
                                  .floats("s", {4}, {1, 1, 2, 2})
                                  .node("Resize", {"x", "", "s"}, {"y"},
                                        {{"mode", "linear"},
                                         {"coordinate_transformation_mode", "align_corners"},
                                         {"nearest_mode", "ceil"}}));
  EXPECT_EQ(stated.mode, ResizeMode::kLinear);
  EXPECT_EQ(stated.coordinates, CoordinateMode::kAlignCorners);
  EXPECT_EQ(stated.nearest, NearestMode::kCeil);
}

TEST(ResizeImport, TheMiddleOfWholeScalesIsInTheSameElementAsTheBeginning) {
  const Attributes below = {{"coordinate_transformation_mode", "tf_half_pixel_for_nn"},
                            {"nearest_mode", "floor"}};
  EXPECT_EQ(
      resized(
          image(11).floats("s", {4}, {1, 1, 2, 2}).node("Resize", {"x", "", "s"}, {"y"}, below)),
      kDoubled);
}

TEST(ResizeImport, SizesInsteadOfScales) {
  // Exporters of opset 11 pass empty tensors for operands that are not used.
  const auto by_sizes = resized(image(11)
                                    .floats("none", {0}, {})
                                    .ints("sizes", {1, 2, 6, 3})
                                    .node("Resize", {"x", "none", "none", "sizes"}, {"y"}));
  EXPECT_EQ(by_sizes.shape, (Dims{1, 2, 6, 3}));
  EXPECT_EQ(by_sizes.scales, (Floats{1, 1, 1.5, 0.5}));
  const auto on_axes =
      resized(image(18)
                  .ints("sizes", {3, 6})
                  .node("Resize", {"x", "", "", "sizes"}, {"y"}, {{"axes", Dims{-1, 2}}}));
  EXPECT_EQ(on_axes.shape, (Dims{1, 2, 6, 3}));
}

// 0.7f is less than 0.7, so 10 times 0.7f is less than 7.
TEST(ResizeImport, AScaleStandsForItsFraction) {
  EXPECT_EQ(resized(Model(13)
                        .input("x", {1, 1, 10, 20})
                        .output("y")
                        .floats("s", {4}, {1, 1, 0.7F, 0.35F})
                        .node("Resize", {"x", "", "s"}, {"y"}))
                .shape,
            (Dims{1, 1, 7, 7}));
}

TEST(ResizeImport, VariantsThatTheGraphHasNotAreAFallback) {
  const Attributes cases[] = {
      {{"mode", "cubic"}},
      {{"coordinate_transformation_mode", "half_pixel_symmetric"}},
      {{"coordinate_transformation_mode", "align_corners"}},
      {{"coordinate_transformation_mode", "tf_half_pixel_for_nn"}, {"nearest_mode", "floor"}},
      {{"antialias", 1}},
      {{"keep_aspect_ratio_policy", "not_larger"}}};
  for (const Attributes& attributes : cases) {
    const graph::Graph graph = import_valid(image(19)
                                                .floats("s", {4}, {1, 1, 2, 2.3f})
                                                .node("Resize", {"x", "", "s"}, {"y"}, attributes));
    EXPECT_TRUE(std::holds_alternative<graph::Fallback>(graph.nodes.back().op));
  }
}

TEST(ResizeImport, ScalesThatDoNotFit) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Floats& scales : {Floats{1, 1, 2}, Floats{1, 1, 0, 2}, Floats{1, 1, -2, 2},
                               Floats{1, 1, nan, 2}, Floats{1, 1, 1e30f, 2}}) {
    const Status status =
        import_failure(image(11)
                           .floats("s", {static_cast<int64_t>(scales.size())}, scales)
                           .node("Resize", {"x", "", "s"}, {"y"}));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.message();
  }
}

}  // namespace
}  // namespace millrace::compiler::test
