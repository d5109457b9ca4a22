// LinearClassifier and LinearRegressor of ai.onnx.ml: scores are dot products of coefficients and
// features plus an intercept, followed by a post-transform. Sums are computed in double.
#include <fmt/format.h>

#include <algorithm>

#include "fallback/families.h"
#include "fallback/ml/class_labels.h"
#include "fallback/ml/post_transform.h"
#include "fallback/ml/rows.h"

namespace millrace::fallback {
namespace {

// Computes scores[i] = coefficients[i] . row + intercepts[i].
struct LinearModel {
  const std::vector<float>* coefficients;
  const std::vector<float>* intercepts;  // null if there are none
  size_t targets = 1;
  PostTransform transform = PostTransform::kNone;

  void score(const double* row, size_t features, std::span<double> scores) const {
    for (size_t target = 0; target < targets; ++target) {
      double sum = intercepts != nullptr ? (*intercepts)[target] : 0;
      const float* own = coefficients->data() + target * features;
      for (size_t i = 0; i < features; ++i) sum += own[i] * row[i];
      scores[target] = sum;
    }
  }
};

Result<LinearModel> read_model(const NodeView& node, size_t targets, size_t features) {
  LinearModel model{node.reals("coefficients"), node.reals("intercepts"), targets};
  const size_t count = model.coefficients != nullptr ? model.coefficients->size() : 0;
  if (features == 0 || count % features != 0 || count / features != targets)
    return invalid_argument(fmt::format("it has {} coefficients for {} targets of {} features",
                                        count, targets, features));
  if (model.intercepts != nullptr && model.intercepts->empty()) model.intercepts = nullptr;
  if (model.intercepts != nullptr && model.intercepts->size() != targets)
    return invalid_argument(
        fmt::format("it has {} intercepts for {} targets", model.intercepts->size(), targets));
  MILLRACE_ASSIGN_OR_RETURN(model.transform,
                            post_transform_of(node.text("post_transform", "NONE")));
  return model;
}

Result<LinearModel> read_regressor(const NodeView& node, size_t features) {
  const int64_t targets = node.integer("targets", 1);
  if (targets < 1) return invalid_argument("targets must be positive");
  return read_model(node, static_cast<size_t>(targets), features);
}

Status shape_of_regressor(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(node.in(0)));
  MILLRACE_ASSIGN_OR_RETURN(const LinearModel model, read_regressor(node, rows.features));
  node.set(0, DataType::kFloat32,
           {static_cast<int64_t>(rows.count), static_cast<int64_t>(model.targets)});
  return {};
}

Status regressor(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(call.in(0)));
  MILLRACE_ASSIGN_OR_RETURN(const LinearModel model, read_regressor(call, rows.features));
  const std::vector<double> features = numbers_of(call.in(0));
  std::vector<double> scores(model.targets);
  float* to = call.out(0).as<float>().data();
  for (size_t row = 0; row < rows.count; ++row) {
    model.score(features.data() + row * rows.features, rows.features, scores);
    transform_scores(model.transform, scores);
    for (const double score : scores) *to++ = static_cast<float>(score);
  }
  return {};
}

// A classifier. With two classes it may have one score only, that of the second class.
struct Classifier {
  LinearModel model;
  std::vector<int64_t> labels;

  bool has_one_score() const { return model.targets == 1 && labels.size() == 2; }
};

Result<Classifier> read_classifier(const NodeView& node, size_t features) {
  const auto* coefficients = node.reals("coefficients");
  const size_t count = coefficients != nullptr ? coefficients->size() : 0;
  Classifier classifier{};
  MILLRACE_ASSIGN_OR_RETURN(classifier.labels, class_labels_of(node));
  const size_t classes = classifier.labels.size();
  const size_t targets = classes == 2 && count == features ? 1 : classes;
  MILLRACE_ASSIGN_OR_RETURN(classifier.model, read_model(node, targets, features));
  return classifier;
}

Status shape_of_classifier(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(node.in(0)));
  MILLRACE_ASSIGN_OR_RETURN(const Classifier classifier, read_classifier(node, rows.features));
  set_labels_and_scores(node, rows.count, classifier.labels.size());
  return {};
}

// Returns the index of the chosen class, and applies the post-transform to the scores.
size_t choose(const Classifier& classifier, std::vector<double>& scores) {
  const PostTransform transform = classifier.model.transform;
  if (!classifier.has_one_score()) {
    const auto best = std::ranges::max_element(scores) - scores.begin();
    transform_scores(transform, scores);
    return static_cast<size_t>(best);
  }
  const double score = scores[0];
  const bool is_logistic = transform == PostTransform::kLogistic;
  scores = {is_logistic ? -score : 1 - score, score};
  // The first score is derived from the second, so a softmax of the two has no meaning and is
  // skipped.
  if (is_logistic || transform == PostTransform::kProbit) transform_scores(transform, scores);
  return score > 0 ? 1 : 0;
}

Status classifier(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(call.in(0)));
  MILLRACE_ASSIGN_OR_RETURN(const Classifier classifier, read_classifier(call, rows.features));
  const std::vector<double> features = numbers_of(call.in(0));
  for (size_t row = 0; row < rows.count; ++row) {
    std::vector<double> scores(classifier.model.targets);
    classifier.model.score(features.data() + row * rows.features, rows.features, scores);
    call.out(0).as<int64_t>()[row] = classifier.labels[choose(classifier, scores)];
    if (call.output_count() == 1) continue;
    const auto to = call.out(1).as<float>().subspan(row * scores.size(), scores.size());
    std::ranges::transform(scores, to.begin(), [](double x) { return static_cast<float>(x); });
  }
  return {};
}

constexpr AttributeSpec kClassifier[] = {
    {"classlabels_ints", AttributeKind::kIntegers}, {"classlabels_strings", AttributeKind::kTexts},
    {"coefficients", AttributeKind::kFloats},       {"intercepts", AttributeKind::kFloats},
    {"multi_class", AttributeKind::kInteger},       {"post_transform", AttributeKind::kText}};
constexpr AttributeSpec kRegressor[] = {{"coefficients", AttributeKind::kFloats},
                                        {"intercepts", AttributeKind::kFloats},
                                        {"post_transform", AttributeKind::kText},
                                        {"targets", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> linear_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"ai.onnx.ml.LinearClassifier",
       1,
       {},
       {1, 2},
       kFeatures,
       shape_of_classifier,
       classifier,
       kClassifier},
      {"ai.onnx.ml.LinearRegressor",
       1,
       {},
       {},
       kFeatures,
       shape_of_regressor,
       regressor,
       kRegressor},
  };
  return kOperators;
}

}  // namespace millrace::fallback
