#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::Array;
using test::Attributes;
using test::compute;
using test::refusal;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr const char* kWordEmbedding = "com.microsoft.WordConvEmbedding";

// One filter over two characters, whose vectors are one number each.
const Array kFilter = array<float>({1, 1, 2, 1}, {1, 10}), kNoBias = array<float>({1}, {0});
const Array kNumbers = array<float>({4, 1}, {0.5f, 0.01f, 0.02f, -0.03f});

std::vector<float> embedded(const Dims& dims, const std::vector<int32_t>& characters) {
  return compute(kWordEmbedding, {array<int32_t>(dims, characters), kFilter, kNoBias, kNumbers})
      .as<float>();
}

// Each of the first word's pairs of characters, and those of the second, has a response.
TEST(FallbackWordConvEmbedding, IsTheLargestResponseOfEachFilter) {
  const float first = std::tanh(0.01f + 0.2f), second = std::tanh(0.02f - 0.3f);
  EXPECT_THAT(embedded({2, 3}, {1, 2, 3, 2, 3, 0}),
              Pointwise(FloatNear(1e-6f), std::vector<float>{first, second}));
}

// A word that is shorter than the filter is read with the characters after it.
TEST(FallbackWordConvEmbedding, ReadsAtLeastTheWidthOfTheFilter) {
  EXPECT_THAT(embedded({2, 3}, {3, 0, 1, 0, 3, 1}),
              Pointwise(FloatNear(1e-6f), std::vector<float>{std::tanh(0.03f * -1 + 5), 0}));
}

TEST(FallbackWordConvEmbedding, KeepsWhatIsNoNumber) {
  const Array numbers = array<float>({4, 1}, {0, 1, std::numeric_limits<float>::quiet_NaN(), 2});
  for (const std::vector<int32_t>& word : {std::vector<int32_t>{2, 1, 1}, {1, 2, 1}, {1, 1, 2}}) {
    const auto y =
        compute(kWordEmbedding, {array<int32_t>({1, 3}, word), kFilter, kNoBias, numbers});
    EXPECT_TRUE(std::isnan(y.as<float>()[0]));
  }
}

TEST(FallbackWordConvEmbedding, RefusesWhatDoesNotFit) {
  const Array word = array<int32_t>({1, 3}, {1, 2, 3});
  const auto reason = [&](const Array& characters, const Array& filter,
                          const Attributes& attributes = {}) {
    return refusal(kWordEmbedding, {characters, filter, kNoBias, kNumbers}, attributes).message();
  };
  EXPECT_THAT(reason(word, array<float>({1, 1, 4, 1}, {1, 1, 1, 1})), HasSubstr("do not fit"));
  EXPECT_THAT(reason(word, array<float>({1, 1, 1, 2}, {1, 1})), HasSubstr("do not fit"));
  EXPECT_THAT(reason(array<int32_t>({3}, {1, 2, 3}), kFilter), HasSubstr("do not fit"));
  EXPECT_THAT(reason(array<int32_t>({1, 2}, {4, 1}), kFilter), HasSubstr("outside a table of 4"));
  EXPECT_THAT(reason(word, kFilter, {{"conv_window_size", int64_t{3}}}),
              HasSubstr("that its attributes state"));
}

}  // namespace
}  // namespace millrace::fallback
