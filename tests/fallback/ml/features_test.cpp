// Operators of ai.onnx.ml around models, and how tensors become attributes.
#include <gmock/gmock.h>

#include <limits>

#include "fallback/attribute_list.h"
#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::Array;
using test::array;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

using Floats = std::vector<float>;
using Texts = std::vector<std::string>;

const float kNan = std::numeric_limits<float>::quiet_NaN();
const Array kRows = array<float>({2, 2}, {3, -4, 0, 0});

TEST(FallbackScaler, ShiftsAndScalesEachFeature) {
  EXPECT_THAT(
      compute("ai.onnx.ml.Scaler", {kRows}, {{"offset", Floats{1, 2}}, {"scale", Floats{.5f, 2}}})
          .as<float>(),
      ElementsAre(1, -12, -.5f, -4));
  EXPECT_THAT(compute("ai.onnx.ml.Scaler", {array<int32_t>({1, 2}, {3, 5})},
                      {{"offset", Floats{1}}, {"scale", Floats{.5f}}})
                  .as<float>(),
              ElementsAre(1, 2));
  EXPECT_THAT(refusal("ai.onnx.ml.Scaler", {kRows}, {{"offset", Floats{1, 2, 3}}}).message(),
              HasSubstr("offset has 3 entries"));
}

TEST(FallbackNormalizer, DividesARowByItsNorm) {
  const std::pair<const char*, Floats> cases[] = {
      {"MAX", {1, -4.f / 3, 0, 0}}, {"L1", {3.f / 7, -4.f / 7, 0, 0}}, {"L2", {.6f, -.8f, 0, 0}}};
  for (const auto& [norm, expected] : cases)
    EXPECT_THAT(
        compute("ai.onnx.ml.Normalizer", {kRows}, {{"norm", std::string(norm)}}).as<float>(),
        Pointwise(FloatNear(1e-6f), expected))
        << norm;
  EXPECT_THAT(refusal("ai.onnx.ml.Normalizer", {kRows}, {{"norm", std::string("L3")}}).message(),
              HasSubstr("norm 'L3'"));
}

TEST(FallbackImputer, ReplacesOneValueOrNan) {
  EXPECT_THAT(compute("ai.onnx.ml.Imputer", {array<float>({2, 2}, {1, kNan, kNan, 4})},
                      {{"imputed_value_floats", Floats{7, 8}}, {"replaced_value_float", kNan}})
                  .as<float>(),
              ElementsAre(1, 8, 7, 4));
  EXPECT_THAT(compute("ai.onnx.ml.Imputer", {array<int64_t>({2, 2}, {1, -1, -1, 4})},
                      {{"imputed_value_int64s", Dims{7}}, {"replaced_value_int64", int64_t{-1}}})
                  .as<int64_t>(),
              ElementsAre(1, 7, 7, 4));
  EXPECT_THAT(refusal("ai.onnx.ml.Imputer", {kRows}, {{"imputed_value_int64s", Dims{7}}}).message(),
              HasSubstr("imputed_value_floats has 0 entries"));
}

TEST(FallbackBinarizer, ComparesWithTheThreshold) {
  EXPECT_THAT(compute("ai.onnx.ml.Binarizer", {vector_of<float>({1, 2, 3})}, {{"threshold", 2.0f}})
                  .as<float>(),
              ElementsAre(0, 0, 1));
}

TEST(FallbackArrayFeatureExtractor, TakesColumns) {
  const Array x = array<int64_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto y = compute("ai.onnx.ml.ArrayFeatureExtractor", {x, vector_of<int64_t>({2, 0})});
  EXPECT_EQ(y.dims, (Dims{2, 2}));
  EXPECT_THAT(y.as<int64_t>(), ElementsAre(3, 1, 6, 4));
  const auto row = compute("ai.onnx.ml.ArrayFeatureExtractor",
                           {vector_of<float>({5, 6}), vector_of<int64_t>({1})});
  EXPECT_EQ(row.dims, (Dims{1, 1}));
  EXPECT_THAT(row.as<float>(), ElementsAre(6));
  for (const int64_t index : {int64_t{-1}, int64_t{3}, std::numeric_limits<int64_t>::max()})
    EXPECT_THAT(
        refusal("ai.onnx.ml.ArrayFeatureExtractor", {x, vector_of<int64_t>({index})}).message(),
        HasSubstr("outside the"));
}

TEST(FallbackFeatureVectorizer, PutsFeaturesSideBySide) {
  const Array more = array<int64_t>({2, 1}, {8, 9});
  const auto y =
      compute("ai.onnx.ml.FeatureVectorizer", {kRows, more}, {{"inputdimensions", Dims{2, 1}}});
  EXPECT_EQ(y.dims, (Dims{2, 3}));
  EXPECT_THAT(y.as<float>(), ElementsAre(3, -4, 8, 0, 0, 9));
  EXPECT_THAT(refusal("ai.onnx.ml.FeatureVectorizer", {kRows, vector_of<float>({1})}).message(),
              HasSubstr("differs in rows"));
}

// As ONNX Runtime: inputdimensions states how much of each row is taken, whatever its rank.
TEST(FallbackFeatureVectorizer, TakesRowsOfAnyRank) {
  const auto widths = [](Dims stated) { return test::Attributes{{"inputdimensions", stated}}; };
  const Array x = array<float>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto y = compute("ai.onnx.ml.FeatureVectorizer", {x}, widths({4}));
  EXPECT_EQ(y.dims, (Dims{2, 4}));
  EXPECT_THAT(y.as<float>(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(compute("ai.onnx.ml.FeatureVectorizer", {x, x}, widths({1, 5})).as<float>(),
              ElementsAre(1, 1, 2, 3, 4, 0, 5, 5, 6, 7, 8, 0));
  EXPECT_THAT(refusal("ai.onnx.ml.FeatureVectorizer", {x}, widths({-1})).message(),
              HasSubstr("out of range"));
}

TEST(FallbackOneHotEncoder, MarksTheCategory) {
  const Array x = vector_of<int64_t>({5, 1, 9});
  const test::Attributes allowed = {{"cats_int64s", Dims{1, 5}}};
  const auto y = compute("ai.onnx.ml.OneHotEncoder", {x}, allowed);
  EXPECT_EQ(y.dims, (Dims{3, 2}));
  EXPECT_THAT(y.as<float>(), ElementsAre(0, 1, 1, 0, 0, 0));
  EXPECT_THAT(
      refusal("ai.onnx.ml.OneHotEncoder", {x}, {{"cats_int64s", Dims{1, 5}}, {"zeros", int64_t{0}}})
          .message(),
      HasSubstr("9 is not a category"));
}

TEST(FallbackLabelEncoder, LooksNumbersUp) {
  EXPECT_THAT(compute("ai.onnx.ml.LabelEncoder", {vector_of<int64_t>({1, 2, 5})},
                      {{"default_float", -3.0f},
                       {"keys_int64s", Dims{5, 1}},
                       {"values_floats", Floats{.25f, .5f}}})
                  .as<float>(),
              ElementsAre(.5f, -3, .25f));
  EXPECT_THAT(compute("ai.onnx.ml.LabelEncoder", {vector_of<float>({1, 2, kNan})},
                      {{"keys_floats", Floats{1, kNan}}, {"values_int64s", Dims{5, 6}}})
                  .as<int64_t>(),
              ElementsAre(5, -1, 6));
  EXPECT_THAT(
      compute("ai.onnx.ml.LabelEncoder", {vector_of<int64_t>({4, 5})},
              {{"default_tensor", Dims{77}}, {"keys_tensor", Dims{4}}, {"values_tensor", Dims{40}}})
          .as<int64_t>(),
      ElementsAre(40, 77));
}

TEST(FallbackLabelEncoder, RefusesStringsAndTablesThatDoNotFit) {
  const Array x = vector_of<int64_t>({1});
  EXPECT_EQ(refusal("ai.onnx.ml.LabelEncoder", {x},
                    {{"keys_strings", Texts{"a"}}, {"values_int64s", Dims{1}}})
                .code(),
            StatusCode::kUnsupported);
  EXPECT_THAT(refusal("ai.onnx.ml.LabelEncoder", {x},
                      {{"keys_int64s", Dims{1, 2}}, {"values_int64s", Dims{1}}})
                  .message(),
              HasSubstr("2 keys and 1 values"));
  EXPECT_THAT(refusal("ai.onnx.ml.LabelEncoder", {x},
                      {{"keys_floats", Floats{1}}, {"values_int64s", Dims{1}}})
                  .message(),
              HasSubstr("its keys are FLOAT32"));
}

TEST(FallbackZipMap, GivesTheScoresThemselves) {
  const auto y = compute("ai.onnx.ml.ZipMap", {kRows}, {{"classlabels_strings", Texts{"a", "b"}}});
  EXPECT_EQ(y.dims, (Dims{2, 2}));
  EXPECT_THAT(y.as<float>(), ElementsAre(3, -4, 0, 0));
}

// A constant over the elements.
template <class T>
graph::Value constant_of(const std::vector<T>& elements, DataType type) {
  const auto bytes = std::as_bytes(std::span(elements));
  return {"", type, {static_cast<int64_t>(elements.size())}, graph::Constant{bytes, nullptr}};
}

TEST(FallbackAttributeList, HoldsIntegersOrFloats) {
  const std::vector<uint8_t> modes = {0, 255};
  EXPECT_EQ(*attribute_list(constant_of(modes, DataType::kUint8)),
            graph::Attribute::Value(Dims{0, 255}));
  const Floats splits = {.5f, -1};
  EXPECT_EQ(*attribute_list(constant_of(splits, DataType::kFloat32)),
            graph::Attribute::Value(splits));
  const std::vector<uint64_t> large = {std::numeric_limits<uint64_t>::max()};
  EXPECT_EQ(attribute_list(constant_of(large, DataType::kUint64)).status().code(),
            StatusCode::kUnsupported);
}

}  // namespace
}  // namespace millrace::fallback
