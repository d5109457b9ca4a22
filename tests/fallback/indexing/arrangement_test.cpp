#include <gmock/gmock.h>

#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::absent;
using test::array;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
const test::Array kRow = vector_of<int32_t>({1, 2, 3});
const test::Array kMatrix = array<int32_t>({2, 2}, {1, 2, 3, 4});

std::vector<int32_t> padded(const char* mode, int64_t before, int64_t after) {
  return compute("Pad", {kRow, vector_of<int64_t>({before, after})}, {{"mode", std::string(mode)}})
      .as<int32_t>();
}

TEST(FallbackPad, RepeatsMoreThanTheInputHolds) {
  EXPECT_THAT(padded("wrap", 4, 2), ElementsAre(3, 1, 2, 3, 1, 2, 3, 1, 2));
  EXPECT_THAT(padded("reflect", 4, 2), ElementsAre(1, 2, 3, 2, 1, 2, 3, 2, 1));
  EXPECT_THAT(padded("edge", 2, 1), ElementsAre(1, 1, 1, 2, 3, 3));
}

TEST(FallbackPad, CutsWhereItIsNegative) {
  EXPECT_THAT(padded("constant", -1, 2), ElementsAre(2, 3, 0, 0));
}

TEST(FallbackPad, KnowsAxesAndIntegerConstants) {
  const auto y = compute("Pad", {kMatrix, vector_of<int64_t>({1, 0}),
                                 array<int32_t>({}, {2000000001}), vector_of<int64_t>({-1})});
  EXPECT_EQ(y.dims, (Dims{2, 3}));
  EXPECT_THAT(y.as<int32_t>(), ElementsAre(2000000001, 1, 2, 2000000001, 3, 4));
}

TEST(FallbackPad, RefusesWhatNoTensorHas) {
  EXPECT_THAT(refusal("Pad", {kRow, vector_of<int64_t>({kHuge, kHuge})}).message(),
              HasSubstr("out of range"));
  EXPECT_THAT(refusal("Pad", {kRow, vector_of<int64_t>({-2, -2})}).message(),
              HasSubstr("cut more than"));
  EXPECT_THAT(refusal("Pad", {kRow, vector_of<int64_t>({1})}).message(), HasSubstr("two numbers"));
  EXPECT_THAT(refusal("Pad", {kMatrix, vector_of<int64_t>({1, 1, 1, 1}), absent(),
                              vector_of<int64_t>({0, -2})})
                  .message(),
              HasSubstr("stands twice"));
}

TEST(FallbackCenterCropPad, PutsTheOddElementAtTheEnd) {
  const auto x = vector_of<float>({1, 2, 3, 4});
  EXPECT_THAT(compute("CenterCropPad", {x, vector_of<int64_t>({7})}).as<float>(),
              ElementsAre(0, 1, 2, 3, 4, 0, 0));
  EXPECT_THAT(compute("CenterCropPad", {x, vector_of<int64_t>({1})}).as<float>(), ElementsAre(2));
  const auto both =
      compute("CenterCropPad", {kMatrix, vector_of<int64_t>({3, 1})}, {{"axes", Dims{-1, 0}}});
  EXPECT_EQ(both.dims, (Dims{1, 3}));
  EXPECT_THAT(both.as<int32_t>(), ElementsAre(1, 2, 0));
}

TEST(FallbackCenterCropPad, RefusesSizesThatAreNone) {
  for (const int64_t size : {int64_t{-1}, kHuge})
    EXPECT_THAT(refusal("CenterCropPad", {kRow, vector_of<int64_t>({size})}).message(),
                HasSubstr("out of range"));
  EXPECT_THAT(refusal("CenterCropPad", {kRow, vector_of<int64_t>({1, 1})}).message(),
              HasSubstr("2 sizes for 1"));
}

TEST(FallbackReverseSequence, LeavesWhatIsBehindTheSequence) {
  const auto x = array<int32_t>({3, 2}, {1, 10, 2, 20, 3, 30});
  EXPECT_THAT(compute("ReverseSequence", {x, vector_of<int64_t>({2, 3})}).as<int32_t>(),
              ElementsAre(2, 30, 1, 20, 3, 10));
  for (const int64_t length : {int64_t{-1}, int64_t{4}, kHuge})
    EXPECT_THAT(refusal("ReverseSequence", {x, vector_of<int64_t>({2, length})}).message(),
                HasSubstr("sequence 1"));
  EXPECT_THAT(refusal("ReverseSequence", {x, vector_of<int64_t>({2, 3})},
                      {{"batch_axis", kHuge}, {"time_axis", int64_t{1}}})
                  .message(),
              HasSubstr("batch_axis"));
}

TEST(FallbackEyeLike, HasNothingBeyondTheMatrix) {
  EXPECT_THAT(compute("EyeLike", {kMatrix}, {{"k", int64_t{1}}}).as<int32_t>(),
              ElementsAre(0, 1, 0, 0));
  for (const int64_t k : {kHuge, std::numeric_limits<int64_t>::min()})
    EXPECT_THAT(compute("EyeLike", {kMatrix}, {{"k", k}}).as<int32_t>(), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(compute("EyeLike", {kMatrix}, {{"dtype", int64_t{7}}}).type, DataType::kInt64);
  EXPECT_EQ(refusal("EyeLike", {kMatrix}, {{"dtype", int64_t{8}}}).code(),
            StatusCode::kUnsupported);
}

test::Attributes n_grams(Dims counts, Dims indices, Dims pool) {
  return {{"max_gram_length", int64_t{2}},     {"max_skip_count", kHuge},
          {"min_gram_length", int64_t{1}},     {"mode", std::string("TF")},
          {"ngram_counts", std::move(counts)}, {"ngram_indexes", std::move(indices)},
          {"pool_int64s", std::move(pool)}};
}

TEST(FallbackTfIdf, CountsWithAnyNumberOfSkips) {
  const auto x = vector_of<int64_t>({1, 2, 1, 2});
  EXPECT_THAT(compute("TfIdfVectorizer", {x}, n_grams({0, 1}, {1, 0}, {2, 1, 2})).as<float>(),
              ElementsAre(3, 2));
}

TEST(FallbackTfIdf, RefusesAPoolThatIsNotMadeOfSequences) {
  const auto x = vector_of<int64_t>({1, 2});
  for (const auto& attributes : {n_grams({0, 2}, {0, 1}, {1, 2, 3}), n_grams({1, 0}, {0}, {1}),
                                 n_grams({0, kHuge}, {0}, {1}), n_grams({0, 1}, {0}, {1, 2, 3}),
                                 n_grams({0, 1}, {0, -1}, {1, 2, 3})})
    EXPECT_EQ(refusal("TfIdfVectorizer", {x}, attributes).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::fallback
