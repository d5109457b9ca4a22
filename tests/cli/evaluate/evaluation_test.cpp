#include "cli/evaluate/evaluation.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/evaluate/evaluation_report.h"

namespace millrace::test {
namespace {

using cli::Evaluation;
using ::testing::HasSubstr;
using ::testing::Not;

using Labels = std::optional<std::vector<size_t>>;

// Two models and three samples of the classes 0, 1 and 2.
Evaluation evaluated(Labels labels) {
  Evaluation evaluation(2, 2, std::move(labels));
  EXPECT_TRUE(evaluation.add(0, "a", {3, 2, 1}).ok());
  EXPECT_TRUE(evaluation.add(0, "b", {3, 2, 1}).ok());
  EXPECT_EQ(evaluation.samples(), 0u) << "the other model has had none";
  EXPECT_TRUE(evaluation.add(1, "a", {30, 20, 10}).ok());
  EXPECT_TRUE(evaluation.add(1, "b", {0, 5, 0}).ok());
  EXPECT_TRUE(evaluation.add(1, "c", {0, 0, 1}).ok());
  EXPECT_TRUE(evaluation.add(0, "c", {0, 0, 2}).ok());
  return evaluation;
}

TEST(Evaluation, CountsRightSamplesAndAgreement) {
  const Evaluation evaluation = evaluated(Labels({0, 1, 2}));
  ASSERT_EQ(evaluation.samples(), 3u);
  EXPECT_EQ(evaluation.classes(), 3u);
  const cli::ModelResult& first = evaluation.results()[0];
  EXPECT_EQ(first.top1, 2u);
  EXPECT_EQ(first.top, 3u) << "b ranks second";
  EXPECT_EQ(first.agreement.same_top1, 3u);
  const cli::ModelResult& other = evaluation.results()[1];
  EXPECT_EQ(other.top1, 3u);
  EXPECT_EQ(other.agreement.same_top1, 2u);
  EXPECT_EQ(other.agreement.least_sample, "b");
  EXPECT_NEAR(other.agreement.cosine_least, 2 / std::sqrt(14.0), 1e-9);
  EXPECT_NEAR(other.agreement.cosine_sum, 2 + 2 / std::sqrt(14.0), 1e-9);
}

TEST(Evaluation, ScoresThatMakeNoSenseNameTheSample) {
  Evaluation evaluation(1, 5, Labels({1, 9}));
  EXPECT_THAT(evaluation.add(0, "a.png", {1}).message(), HasSubstr("a.png: 1 scores"));
  EXPECT_TRUE(evaluation.add(0, "a.png", {1, 2}).ok());
  EXPECT_THAT(evaluation.add(0, "b.png", {1, 2, 3}).message(),
              HasSubstr("but other samples or models have 2"));
  EXPECT_THAT(evaluation.add(0, "b.png", {1, 2}).message(),
              HasSubstr("b.png has class 9, but the model has 2 classes"));
}

TEST(EvaluationReport, HasALineForEachModel) {
  const std::string text = cli::evaluation_text({{{"a.rai", "fp32"}, {"b.rai", "bf16"}}, 2, true},
                                                evaluated(Labels({0, 1, 2})));
  EXPECT_THAT(text, HasSubstr("3 samples, 3 classes\n"));
  EXPECT_THAT(text, HasSubstr("a.rai  fp32       66.67 % (2)       100.00 % (3)\n"));
  EXPECT_THAT(text, HasSubstr("b.rai  bf16       100.00 % (3)      100.00 % (3)      66.67 % (2)"));
}

TEST(EvaluationReport, WithoutLabelsThereIsAgreementOnly) {
  const std::string text =
      cli::evaluation_text({{{"a.rai", "fp32"}, {"b.rai", "bf16"}}, 2, false}, evaluated({}));
  EXPECT_THAT(text, HasSubstr("a.rai  fp32\n"));
  EXPECT_THAT(text, HasSubstr("b.rai  bf16       66.67 % (2)       0.844841, 0.534522\n"));
  EXPECT_THAT(text, Not(HasSubstr("top-2")));
}

TEST(EvaluationReport, JsonHasTheSameNumbers) {
  const auto json = nlohmann::json::parse(cli::evaluation_json(
      {{{"a\xff.rai", "fp32"}, {"b.rai", "bf16"}}, 2, true}, evaluated(Labels({0, 1, 2}))));
  EXPECT_EQ(json["samples"], 3);
  EXPECT_EQ(json["models"][0]["top1_samples"], 2);
  EXPECT_EQ(json["models"][0]["top2"], 1.0);
  EXPECT_FALSE(json["models"][0].contains("same_top1"));
  EXPECT_EQ(json["models"][1]["same_top1_samples"], 2);
  EXPECT_EQ(json["models"][1]["cosine_least_sample"], "b");
}

}  // namespace
}  // namespace millrace::test
