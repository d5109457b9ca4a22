#include "cli/evaluate/scores.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/relu_model.h"

namespace millrace::test {
namespace {

using cli::rank_of;
using cli::score_output;
using quantise::best_class;
using ::testing::HasSubstr;

TEST(Scores, HigherOnesRankFirstAndNanLast) {
  const std::vector<float> scores = {1, NAN, 3, 3, -INFINITY};
  EXPECT_EQ(best_class(scores), 2u);
  EXPECT_EQ(rank_of(scores, 2), 0u);
  EXPECT_EQ(rank_of(scores, 3), 1u) << "of equal ones the lower class";
  EXPECT_EQ(rank_of(scores, 0), 2u);
  EXPECT_EQ(rank_of(scores, 4), 3u);
  EXPECT_EQ(rank_of(scores, 1), 4u);
  EXPECT_EQ(best_class(std::vector<float>(3, NAN)), 0u);
}

TEST(Scores, TheOutputIsNamedOrTheOnlyOneThatFits) {
  const auto boxes_and_scores = relu_model({{"boxes", {1, 4, 2}}, {"scores", {1, 10, 1, 1}}});
  EXPECT_EQ(*score_output(boxes_and_scores, ""), 1u);
  EXPECT_EQ(*score_output(boxes_and_scores, "positive_boxes"), 0u);
  EXPECT_THAT(score_output(boxes_and_scores, "other").status().message(),
              HasSubstr("positive_boxes, positive_scores"));
  const auto two = relu_model({{"a", {1, 10}}, {"b", {10}}});
  EXPECT_THAT(score_output(two, "").status().message(), HasSubstr("several of the outputs"));
  const auto none = relu_model({{"a", {2, 10}}, {"b", {1}}});
  EXPECT_THAT(score_output(none, "").status().message(), HasSubstr("none of the outputs"));
}

}  // namespace
}  // namespace millrace::test
