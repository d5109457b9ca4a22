#include <gmock/gmock.h>

#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::absent;
using test::Array;
using test::array;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

Array number(int64_t value) {
  return array<int64_t>({}, {value});
}
Array frequency(float value) {
  return array<float>({}, {value});
}
Array signal(const std::vector<float>& elements) {
  return array<float>({1, static_cast<int64_t>(elements.size()), 1}, elements);
}

// Expected spectra computed with numpy.
TEST(FallbackDft, TransformsAnyLength) {
  const auto x = signal({1, 2, 4});
  const auto bins = [&](const std::vector<Array>& inputs) {
    return compute("DFT", inputs, {{"onesided", int64_t{1}}}).as<float>();
  };
  EXPECT_THAT(bins({x}), Pointwise(FloatNear(1e-5f), {7.0f, 0.0f, -2.0f, 1.7320508f}));
  EXPECT_THAT(bins({x, number(5)}), Pointwise(FloatNear(1e-5f), {7.0f, 0.0f, -1.618034f, -4.253254f,
                                                                 0.618034f, 2.6286556f}));
  EXPECT_THAT(bins({x, number(2)}), Pointwise(FloatNear(1e-5f), {3.0f, 0.0f, -1.0f, 0.0f}));
  EXPECT_THAT(bins({signal({0, 1, 4, 9, 16, 25, 36})}),
              Pointwise(FloatNear(1e-3f), {91.0f, 0.0f, -5.9082061f, 50.8747742f, -18.7741267f,
                                           19.538098f, -20.8176672f, 5.5919651f}));
}

TEST(FallbackDft, IsUndoneByItsInverse) {
  for (const int64_t size : {1, 2, 3, 4, 6, 8, 13}) {
    std::vector<float> elements;
    for (int64_t i = 0; i < size; ++i) elements.push_back(static_cast<float>(i * i % 7) - 2);
    const auto back =
        compute("DFT", {compute("DFT", {signal(elements)})}, {{"inverse", int64_t{1}}});
    for (size_t i = 0; i < elements.size(); ++i) {
      EXPECT_NEAR(back.as<float>()[2 * i], elements[i], 1e-5f) << size;
      EXPECT_NEAR(back.as<float>()[2 * i + 1], 0, 1e-5f) << size;
    }
  }
}

// An operand from operator set 20 on; before that an attribute.
TEST(FallbackDft, TakesItsAxisFromEither) {
  const auto x = array<float>({2, 2, 1}, {1, 2, 3, 4});
  const auto by_operand = compute("DFT", {x, absent(), number(0)});
  EXPECT_THAT(by_operand.as<float>(), ElementsAre(4, 0, 6, 0, -2, 0, -2, 0));
  EXPECT_EQ(compute("DFT", {x}, {{"axis", int64_t{0}}}).bytes, by_operand.bytes);
}

TEST(FallbackDft, RefusesWhatHasNoSpectrum) {
  const auto x = signal({1, 2, 4});
  for (const int64_t length : {int64_t{0}, int64_t{-1}, kHuge})
    EXPECT_THAT(refusal("DFT", {x, number(length)}).message(), HasSubstr("length"));
  EXPECT_THAT(refusal("DFT", {x, absent(), number(2)}).message(), HasSubstr("imaginary"));
  EXPECT_THAT(refusal("DFT", {x, absent(), number(kHuge)}).message(), HasSubstr("axis"));
  EXPECT_EQ(refusal("DFT", {vector_of<float>({1, 2, 4})}).code(), StatusCode::kInvalidArgument);
}

TEST(FallbackStft, TransformsWindowedFrames) {
  const auto x = array<float>({1, 5}, {1, 2, 3, 4, 5});
  const auto y = compute("STFT", {x, number(2), vector_of<float>({1, 2})});
  EXPECT_EQ(y.dims, (Dims{1, 2, 2, 2}));
  EXPECT_THAT(y.as<float>(), ElementsAre(5, 0, -3, 0, 11, 0, -5, 0));
}

TEST(FallbackStft, RefusesFramesThatDoNotFit) {
  const auto x = array<float>({1, 5}, {1, 2, 3, 4, 5});
  for (const auto& [step, length] :
       {std::pair<int64_t, int64_t>{0, 2}, {-1, 2}, {1, 0}, {1, -3}, {1, 6}, {1, kHuge}})
    EXPECT_THAT(refusal("STFT", {x, number(step), absent(), number(length)}).message(),
                HasSubstr("do not fit a signal"));
  EXPECT_THAT(refusal("STFT", {x, number(1), vector_of<float>({1, 2}), number(3)}).message(),
              HasSubstr("must be frame_length"));
  EXPECT_THAT(refusal("STFT", {x, number(1)}).message(), HasSubstr("neither"));
}

TEST(FallbackWindows, ArePeriodicOrSymmetric) {
  const auto window = [](const char* name, int64_t periodic) {
    return compute(name, {number(4)}, {{"periodic", periodic}}).as<float>();
  };
  EXPECT_THAT(window("HannWindow", 1), Pointwise(FloatNear(1e-6f), {0.0f, 0.5f, 1.0f, 0.5f}));
  EXPECT_THAT(window("HannWindow", 0), Pointwise(FloatNear(1e-6f), {0.0f, 0.75f, 0.75f, 0.0f}));
  EXPECT_THAT(window("BlackmanWindow", 0), Pointwise(FloatNear(1e-6f), {0.0f, 0.63f, 0.63f, 0.0f}));
  EXPECT_THAT(compute("HammingWindow", {number(1)}, {{"periodic", int64_t{0}}}).as<float>(),
              Pointwise(FloatNear(1e-6f), {1.0f}));
}

TEST(FallbackWindows, RefuseSizesThatAreNone) {
  for (const int64_t size : {int64_t{-1}, kHuge})
    EXPECT_THAT(refusal("HannWindow", {number(size)}).message(), HasSubstr("out of range"));
  EXPECT_EQ(refusal("HannWindow", {number(4)}, {{"output_datatype", int64_t{8}}}).code(),
            StatusCode::kUnsupported);
}

TEST(FallbackMelWeights, RefuseBandsBeyondTheSpectrum) {
  const auto weights = [](int64_t bands, int64_t length, int64_t rate, float low, float high) {
    return std::vector<Array>{number(bands), number(length), number(rate), frequency(low),
                              frequency(high)};
  };
  EXPECT_EQ(compute("MelWeightMatrix", weights(2, 8, 8000, 0, 4000)).dims, (Dims{5, 2}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& inputs : {weights(2, 8, 8000, 0, 1e6f), weights(2, 8, 8000, -1000, 4000),
                             weights(2, 8, 8000, nan, 4000), weights(kHuge, 8, 8000, 0, 4000),
                             weights(2, kHuge, 8000, 0, 4000), weights(2, 8, 0, 0, 4000)})
    EXPECT_EQ(refusal("MelWeightMatrix", inputs).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::fallback
