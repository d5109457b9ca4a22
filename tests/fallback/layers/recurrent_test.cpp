#include <gmock/gmock.h>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::absent;
using test::Array;
using test::array;
using test::compute_all;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Texts = std::vector<std::string>;

// A cell of one number whose state is the sum of all inputs so far: h = x + h.
const Array kSteps = array<float>({3, 1, 1}, {1, 10, 100});
const Array kUnit = array<float>({1, 1, 1}, {1});
const graph::Attribute kLinear = {"activations", Texts{"Affine"}};
const graph::Attribute kSize = {"hidden_size", int64_t{1}};

TEST(FallbackRnn, GoesForwardsAndBackwards) {
  const auto forward = compute_all("RNN", {kSteps, kUnit, kUnit}, {kLinear, kSize}, 2);
  EXPECT_EQ(forward[0].dims, (Dims{3, 1, 1, 1}));
  EXPECT_THAT(forward[0].as<float>(), ElementsAre(1, 11, 111));
  EXPECT_THAT(forward[1].as<float>(), ElementsAre(111));
  const auto reverse = compute_all("RNN", {kSteps, kUnit, kUnit},
                                   {kLinear, {"direction", std::string("reverse")}, kSize}, 2);
  EXPECT_THAT(reverse[0].as<float>(), ElementsAre(111, 110, 100));
}

TEST(FallbackRnn, BothDirectionsHaveWeightsOfTheirOwn) {
  const auto weights = array<float>({2, 1, 1}, {1, 2}), units = array<float>({2, 1, 1}, {1, 1});
  const auto both = compute_all("RNN", {kSteps, weights, units},
                                {{"activations", Texts{"Affine", "Affine"}},
                                 {"direction", std::string("bidirectional")},
                                 kSize},
                                2);
  EXPECT_EQ(both[0].dims, (Dims{3, 2, 1, 1}));
  EXPECT_THAT(both[0].as<float>(), ElementsAre(1, 222, 11, 220, 111, 200));
  EXPECT_THAT(both[1].as<float>(), ElementsAre(111, 222));
}

TEST(FallbackRnn, PaddingIsZeroAndTheStateThatBeforeIt) {
  const auto lengths = vector_of<int32_t>({2});
  for (const char* direction : {"forward", "reverse"}) {
    const auto results = compute_all("RNN", {kSteps, kUnit, kUnit, absent(), lengths},
                                     {kLinear, {"direction", std::string(direction)}, kSize}, 2);
    EXPECT_EQ(results[0].as<float>()[2], 0) << direction;
    EXPECT_THAT(results[1].as<float>(), ElementsAre(11)) << direction;
  }
  const auto too_long = vector_of<int32_t>({4});
  EXPECT_THAT(refusal("RNN", {kSteps, kUnit, kUnit, absent(), too_long}, {kSize}).message(),
              HasSubstr("sequence 0 has length 4, but there are 3 steps"));
}

TEST(FallbackRnn, TakesTheBatchFirst) {
  const auto x = array<float>({2, 2, 1}, {1, 10, 2, 20});
  const auto start = array<float>({2, 1, 1}, {100, 200});
  const auto results = compute_all("RNN", {x, kUnit, kUnit, absent(), absent(), start},
                                   {kLinear, kSize, {"layout", int64_t{1}}}, 2);
  EXPECT_EQ(results[0].dims, (Dims{2, 2, 1, 1}));
  EXPECT_THAT(results[0].as<float>(), ElementsAre(101, 111, 202, 222));
  EXPECT_THAT(results[1].as<float>(), ElementsAre(111, 222));
}

TEST(FallbackRnn, ClipsWhatGoesIntoActivations) {
  const auto results =
      compute_all("RNN", {kSteps, kUnit, kUnit}, {kLinear, {"clip", 20.0f}, kSize}, 1);
  EXPECT_THAT(results[0].as<float>(), ElementsAre(1, 11, 20));
}

// All gates are open or shut by their biases.
TEST(FallbackLstm, GatesInputOutputForgetAndCell) {
  const auto zeros = array<float>({1, 4, 1}, {0, 0, 0, 1}),
             none = array<float>({1, 4, 1}, {0, 0, 0, 0});
  const test::Attributes linear = {{"activations", Texts{"Affine", "Affine", "Affine"}}, kSize};
  const auto bias = array<float>({1, 8}, {1, 2, 0.5f, 0, 0, 0, 0, 0});
  const auto results = compute_all("LSTM", {kSteps, zeros, none, bias}, linear, 3);
  EXPECT_THAT(results[2].as<float>(), ElementsAre(105.25f));
  EXPECT_THAT(results[0].as<float>(), ElementsAre(2, 21, 210.5f));
}

TEST(FallbackLstm, CouplesTheForgetGateToTheInputGate) {
  const auto zeros = array<float>({1, 4, 1}, {0, 0, 0, 0});
  const auto bias = array<float>({1, 8}, {0.25f, 1, 9, 8, 0, 0, 0, 0});  // the 9 has no effect
  const auto start = array<float>({1, 1, 1}, {4});
  const auto x = array<float>({1, 1, 1}, {0});
  const auto results = compute_all(
      "LSTM", {x, zeros, zeros, bias, absent(), absent(), start},
      {{"activations", Texts{"Affine", "Affine", "Affine"}}, kSize, {"input_forget", int64_t{1}}},
      3);
  EXPECT_THAT(results[2].as<float>(), ElementsAre(0.75f * 4 + 0.25f * 8));
}

TEST(FallbackGru, AppliesTheResetGateBeforeOrAfterTheProduct) {
  const auto weights = array<float>({1, 3, 1}, {0, 0, 0});
  const auto recurrence = array<float>({1, 3, 1}, {0, 0, 1});
  // update 0, reset 0.5, and a bias of 4 of the state's share.
  const auto bias = array<float>({1, 6}, {0, 0.5f, 0, 0, 0, 4});
  const auto start = array<float>({1, 1, 1}, {8});
  const auto one_step = array<float>({1, 1, 1}, {0});
  const auto run = [&](int64_t after) {
    return compute_all(
               "GRU", {one_step, weights, recurrence, bias, absent(), start},
               {{"activations", Texts{"Affine", "Affine"}}, kSize, {"linear_before_reset", after}},
               1)[0]
        .as<float>();
  };
  EXPECT_THAT(run(0), ElementsAre(8));  // 0.5 * 8 + 4
  EXPECT_THAT(run(1), ElementsAre(6));  // 0.5 * (8 + 4)
}

TEST(FallbackRecurrent, RefusesWhatDoesNotFit) {
  const auto wide = array<float>({1, 1, 2}, {1, 1});
  EXPECT_THAT(refusal("RNN", {kSteps, wide, kUnit}).message(), HasSubstr("input 1 is FLOAT32"));
  EXPECT_THAT(refusal("LSTM", {kSteps, kUnit, kUnit}).message(), HasSubstr("[1,4,1]"));
  EXPECT_THAT(refusal("RNN", {kSteps, kUnit, kUnit}, {{"hidden_size", int64_t{2}}}).message(),
              HasSubstr("hidden_size"));
  EXPECT_THAT(refusal("RNN", {kSteps, kUnit, kUnit}, {{"activations", Texts{"Step"}}}).message(),
              HasSubstr("'Step'"));
  EXPECT_THAT(refusal("RNN", {kSteps, kUnit, kUnit}, {{"activations", Texts{}}}).message(),
              HasSubstr("0 activations; expected 1"));
  EXPECT_THAT(refusal("RNN", {kSteps, kUnit, kUnit}, {{"direction", std::string("up")}}).message(),
              HasSubstr("'up'"));
}

}  // namespace
}  // namespace millrace::fallback
