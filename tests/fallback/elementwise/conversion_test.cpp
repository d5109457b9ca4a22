// Operators that keep elements, or change no more than their type or scale.
#include <gmock/gmock.h>

#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::absent;
using test::array;
using test::booleans;
using test::compute;
using test::compute_all;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

TEST(FallbackCastLike, CutsAndSaturates) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto x = vector_of<float>({-1.7f, 300, -infinity, std::numeric_limits<float>::quiet_NaN()});
  const auto cast = [&](const test::Array& like) { return compute("CastLike", {x, like}); };
  EXPECT_THAT(cast(vector_of<int8_t>({0})).as<int8_t>(), ElementsAre(-1, 127, -128, 0));
  EXPECT_THAT(cast(vector_of<uint64_t>({0})).as<uint64_t>(), ElementsAre(0u, 300u, 0u, 0u));
  EXPECT_THAT(cast(booleans({0})).as<uint8_t>(), ElementsAre(1, 1, 1, 1));
}

TEST(FallbackCastLike, TakesAnyNumberForTrue) {
  const auto truths = array<uint8_t>({2}, {0, 7}, DataType::kBoolean);
  EXPECT_THAT(compute("CastLike", {truths, vector_of<float>({0})}).as<float>(), ElementsAre(0, 1));
  EXPECT_THAT(compute("CastLike", {vector_of<int32_t>({256, 0}), booleans({0})}).as<uint8_t>(),
              ElementsAre(1, 0));
}

TEST(FallbackDropout, KeepsEverythingInInference) {
  const auto x = vector_of<float>({1, 2});
  const auto outputs = compute_all("Dropout", {x, array<float>({}, {0.5f})}, {}, 2);
  EXPECT_EQ(outputs[0].bytes, x.bytes);
  EXPECT_EQ(outputs[1].type, DataType::kBoolean);
  EXPECT_THAT(outputs[1].as<uint8_t>(), ElementsAre(1, 1));
  EXPECT_THAT(refusal("Dropout", {x, absent(), booleans({1})}).message(),
              HasSubstr("training_mode"));
}

TEST(FallbackRemoved, ScalesElements) {
  const auto x = vector_of<float>({-1, 0, 100});
  const test::Attributes attributes = {{"alpha", 2.0f}, {"beta", 3.0f}};
  EXPECT_THAT(compute("Affine", {x}, attributes).as<float>(), ElementsAre(1, 3, 203));
  EXPECT_THAT(compute("Scale", {x}, {{"scale", 0.5f}}).as<float>(), ElementsAre(-0.5f, 0, 50));
  EXPECT_THAT(compute("ScaledTanh", {x}, attributes).as<float>(),
              ElementsAre(FloatNear(-1.9901095f, 1e-6f), 0, 2));
  EXPECT_THAT(compute("ParametricSoftplus", {x}, attributes).as<float>(),
              ElementsAre(FloatNear(0.0971747f, 1e-6f), FloatNear(1.3862944f, 1e-6f), 600));
}

TEST(FallbackRemoved, ScalesAndCropsPictures) {
  const auto x = array<float>({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_THAT(compute("ImageScaler", {x}, {{"bias", std::vector<float>{1, -1}}, {"scale", 2.0f}})
                  .as<float>(),
              ElementsAre(3, 5, 7, 9, 9, 11, 13, 15));
  EXPECT_THAT(compute("Crop", {x}, {{"border", Dims{1, 0, 0, 1}}}).as<float>(), ElementsAre(2, 6));
  EXPECT_THAT(
      compute("Crop", {x}, {{"border", Dims{0, 1, 0, 0}}, {"scale", Dims{1, 1}}}).as<float>(),
      ElementsAre(3, 7));
  for (const Dims& border : {Dims{2, 0, 1, 0}, Dims{-1, 0, 0, 0}, Dims{0, 0},
                             Dims{0, std::numeric_limits<int64_t>::max(), 0, 0}})
    EXPECT_EQ(refusal("Crop", {x}, {{"border", border}}).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::fallback
