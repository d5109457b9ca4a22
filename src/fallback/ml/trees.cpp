// Ensembles of decision trees of ai.onnx.ml: TreeEnsembleClassifier, TreeEnsembleRegressor,
// TreeEnsemble. The attributes are read and checked once per node (ensemble.h); the kernels sum the
// weights of leaves in double.
#include <fmt/format.h>

#include <algorithm>

#include "fallback/families.h"
#include "fallback/ml/class_labels.h"
#include "fallback/ml/ensemble.h"
#include "fallback/ml/rows.h"

namespace millrace::fallback {
namespace {

Status check_features(const Ensemble& ensemble, const Rows& rows) {
  if (ensemble.features <= rows.features) return {};
  return invalid_argument(fmt::format("its trees compare feature {}, but rows have {} features",
                                      ensemble.features - 1, rows.features));
}

// Calls visit(index of the row, its scores) for each row.
template <class Visit>
void for_each_row(const Call& call, const Ensemble& ensemble, Visit&& visit) {
  const Rows rows = *rows_of(call.in(0));
  const std::vector<double> features = numbers_of(call.in(0));
  Scores scores(ensemble.targets);
  for (size_t row = 0; row < rows.count; ++row) {
    sum_up(ensemble, features.data() + row * rows.features, scores);
    visit(row, scores);
  }
}

// A classifier. With two classes, weights for only one of them, and less than two base values, a
// row has one score, that of the second class.
struct Classifier {
  Ensemble trees;
  std::vector<int64_t> labels;
  bool has_one_score = false;
  bool is_share = false;  // no weight is negative: the one score counts as a probability
};

Result<std::vector<double>> class_base_values(const NodeView& node, const Classifier& classifier) {
  const size_t classes = classifier.labels.size();
  const auto* values = stated_numbers(node, "base_values");
  if (classes != 2 || values == nullptr || values->size() != 1)
    return base_values_of(node, classes);
  // A single value for two classes belongs to the one score, or otherwise to the first class.
  std::vector<double> both(2, 0);
  both[classifier.has_one_score ? classifier.trees.weights[0].target : 0] = (*values)[0];
  return both;
}

bool has_one_score(const NodeView& node, const Classifier& classifier) {
  const auto* base_values = stated_numbers(node, "base_values");
  const auto& weights = classifier.trees.weights;
  return classifier.labels.size() == 2 && (base_values == nullptr || base_values->size() < 2) &&
         std::ranges::all_of(
             weights, [&](const LeafWeight& weight) { return weight.target == weights[0].target; });
}

Result<Classifier> read_classifier(const NodeView& node) {
  Classifier classifier;
  MILLRACE_ASSIGN_OR_RETURN(classifier.labels, class_labels_of(node));
  MILLRACE_ASSIGN_OR_RETURN(classifier.trees, read_trees(node, "class", classifier.labels.size()));
  const auto& weights = classifier.trees.weights;
  if (weights.empty()) return invalid_argument("no leaf has a weight");
  classifier.has_one_score = has_one_score(node, classifier);
  classifier.is_share =
      std::ranges::all_of(weights, [](const LeafWeight& weight) { return weight.value >= 0; });
  MILLRACE_ASSIGN_OR_RETURN(classifier.trees.base_values, class_base_values(node, classifier));
  return classifier;
}

Status shape_of_classifier(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(node.in(0)));
  MILLRACE_ASSIGN_OR_RETURN(const Classifier classifier, read_classifier(node));
  MILLRACE_RETURN_IF_ERROR(check_features(classifier.trees, rows));
  set_labels_and_scores(node, rows.count, classifier.labels.size());
  return {};
}

// Derives the score of the first class if only the second one has a score, and then applies the
// post-transform to both.
void complete_scores(const Classifier& classifier, std::vector<double>& scores) {
  const double score = scores[0];
  const PostTransform transform = classifier.trees.transform;
  const bool opposite = transform == PostTransform::kLogistic || !classifier.is_share;
  scores = {opposite ? -score : 1 - score, score};
  // The first score is derived from the second, so a softmax of the two has no meaning and is
  // skipped.
  if (transform == PostTransform::kLogistic || transform == PostTransform::kProbit)
    transform_scores(transform, scores);
}

// Returns the index of the chosen class, and applies the post-transform to the scores.
size_t classify_one_score(const Classifier& classifier, std::vector<double>& scores) {
  const uint32_t target = classifier.trees.weights[0].target;
  const bool second = scores[target] > (classifier.is_share ? 0.5 : 0);
  if (target == 0)
    complete_scores(classifier, scores);
  else
    transform_scores(classifier.trees.transform, scores);
  return second ? 1 : 0;
}

// Returns the index of the chosen class, and applies the post-transform. Without base values, a
// class for which no leaf has a weight is not chosen.
size_t classify_scores(const Classifier& classifier, Scores& scores) {
  size_t best = scores.values.size();
  for (size_t i = 0; i < scores.values.size(); ++i) {
    const bool counts = scores.has_value[i] != 0 || !classifier.trees.base_values.empty();
    if (!counts) continue;
    if (best == scores.values.size() || scores.values[i] > scores.values[best]) best = i;
  }
  transform_scores(classifier.trees.transform, scores.values);
  return best == scores.values.size() ? 0 : best;
}

void add_base_values(const Ensemble& ensemble, Scores& scores) {
  for (size_t i = 0; i < ensemble.base_values.size(); ++i)
    scores.values[i] += ensemble.base_values[i];
}

void store_scores(const OutputView& out, size_t row, const std::vector<double>& scores) {
  const auto to = out.as<float>().subspan(row * scores.size(), scores.size());
  std::ranges::transform(scores, to.begin(), [](double x) { return static_cast<float>(x); });
}

Status classifier(const Call& call) {
  const auto& classifier = call.prepared<Classifier>();
  for_each_row(call, classifier.trees, [&](size_t row, Scores& scores) {
    add_base_values(classifier.trees, scores);
    const size_t chosen = classifier.has_one_score ? classify_one_score(classifier, scores.values)
                                                   : classify_scores(classifier, scores);
    call.out(0).as<int64_t>()[row] = classifier.labels[chosen];
    if (call.output_count() > 1) store_scores(call.out(1), row, scores.values);
  });
  return {};
}

Result<std::shared_ptr<const void>> prepare_classifier(const NodeView& node) {
  MILLRACE_ASSIGN_OR_RETURN(Classifier classifier, read_classifier(node));
  return std::shared_ptr<const void>(std::make_shared<const Classifier>(std::move(classifier)));
}

Result<Ensemble> read_regressor(const NodeView& node) {
  const int64_t targets = node.integer("n_targets");
  if (targets < 1) return invalid_argument("n_targets must be positive");
  MILLRACE_ASSIGN_OR_RETURN(Ensemble ensemble,
                            read_trees(node, "target", static_cast<size_t>(targets)));
  constexpr std::array<std::string_view, 4> kAggregates = {"AVERAGE", "SUM", "MIN", "MAX"};
  const std::string name = node.text("aggregate_function", "SUM");
  const auto entry = std::ranges::find(kAggregates, name);
  if (entry == kAggregates.end())
    return invalid_argument(fmt::format("unknown aggregate_function '{}'", name));
  ensemble.aggregate = static_cast<Aggregate>(entry - kAggregates.begin());
  MILLRACE_ASSIGN_OR_RETURN(ensemble.base_values, base_values_of(node, ensemble.targets));
  return ensemble;
}

Status set_targets(Inference& node, const Ensemble& ensemble, DataType type) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(node.in(0)));
  MILLRACE_RETURN_IF_ERROR(check_features(ensemble, rows));
  node.set(0, type, {static_cast<int64_t>(rows.count), static_cast<int64_t>(ensemble.targets)});
  return {};
}

Status shape_of_regressor(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Ensemble ensemble, read_regressor(node));
  return set_targets(node, ensemble, DataType::kFloat32);
}

Status shape_of_ensemble(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Ensemble ensemble, read_tree_ensemble(node));
  return set_targets(node, ensemble, node.in(0).type);
}

template <Result<Ensemble> (*read)(const NodeView&)>
Result<std::shared_ptr<const void>> prepare_ensemble(const NodeView& node) {
  MILLRACE_ASSIGN_OR_RETURN(Ensemble ensemble, read(node));
  return std::shared_ptr<const void>(std::make_shared<const Ensemble>(std::move(ensemble)));
}

// The kernel of TreeEnsembleRegressor and TreeEnsemble.
Status regression(const Call& call) {
  const auto& ensemble = call.prepared<Ensemble>();
  return visit_floating(call.out(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    T* to = call.out(0).as<T>().data();
    for_each_row(call, ensemble, [&](size_t, Scores& scores) {
      add_base_values(ensemble, scores);
      transform_scores(ensemble.transform, scores.values);
      for (const double score : scores.values) *to++ = static_cast<T>(score);
    });
    return {};
  });
}

constexpr AttributeSpec kClassifier[] = {
    {"base_values", AttributeKind::kFloats},
    {"base_values_as_tensor", AttributeKind::kFloats},
    {"class_ids", AttributeKind::kIntegers},
    {"class_nodeids", AttributeKind::kIntegers},
    {"class_treeids", AttributeKind::kIntegers},
    {"class_weights", AttributeKind::kFloats},
    {"class_weights_as_tensor", AttributeKind::kFloats},
    {"classlabels_int64s", AttributeKind::kIntegers},
    {"classlabels_strings", AttributeKind::kTexts},
    {"nodes_falsenodeids", AttributeKind::kIntegers},
    {"nodes_featureids", AttributeKind::kIntegers},
    {"nodes_hitrates", AttributeKind::kFloats},
    {"nodes_hitrates_as_tensor", AttributeKind::kFloats},
    {"nodes_missing_value_tracks_true", AttributeKind::kIntegers},
    {"nodes_modes", AttributeKind::kTexts},
    {"nodes_nodeids", AttributeKind::kIntegers},
    {"nodes_treeids", AttributeKind::kIntegers},
    {"nodes_truenodeids", AttributeKind::kIntegers},
    {"nodes_values", AttributeKind::kFloats},
    {"nodes_values_as_tensor", AttributeKind::kFloats},
    {"post_transform", AttributeKind::kText}};
constexpr AttributeSpec kRegressor[] = {
    {"aggregate_function", AttributeKind::kText},
    {"base_values", AttributeKind::kFloats},
    {"base_values_as_tensor", AttributeKind::kFloats},
    {"n_targets", AttributeKind::kInteger},
    {"nodes_falsenodeids", AttributeKind::kIntegers},
    {"nodes_featureids", AttributeKind::kIntegers},
    {"nodes_hitrates", AttributeKind::kFloats},
    {"nodes_hitrates_as_tensor", AttributeKind::kFloats},
    {"nodes_missing_value_tracks_true", AttributeKind::kIntegers},
    {"nodes_modes", AttributeKind::kTexts},
    {"nodes_nodeids", AttributeKind::kIntegers},
    {"nodes_treeids", AttributeKind::kIntegers},
    {"nodes_truenodeids", AttributeKind::kIntegers},
    {"nodes_values", AttributeKind::kFloats},
    {"nodes_values_as_tensor", AttributeKind::kFloats},
    {"post_transform", AttributeKind::kText},
    {"target_ids", AttributeKind::kIntegers},
    {"target_nodeids", AttributeKind::kIntegers},
    {"target_treeids", AttributeKind::kIntegers},
    {"target_weights", AttributeKind::kFloats},
    {"target_weights_as_tensor", AttributeKind::kFloats}};
constexpr AttributeSpec kTreeEnsemble[] = {
    {"aggregate_function", AttributeKind::kInteger},
    {"leaf_targetids", AttributeKind::kIntegers},
    {"leaf_weights", AttributeKind::kFloats},
    {"membership_values", AttributeKind::kFloats},
    {"n_targets", AttributeKind::kInteger},
    {"nodes_falseleafs", AttributeKind::kIntegers},
    {"nodes_falsenodeids", AttributeKind::kIntegers},
    {"nodes_featureids", AttributeKind::kIntegers},
    {"nodes_hitrates", AttributeKind::kFloats},
    {"nodes_missing_value_tracks_true", AttributeKind::kIntegers},
    {"nodes_modes", AttributeKind::kIntegers},
    {"nodes_splits", AttributeKind::kFloats},
    {"nodes_trueleafs", AttributeKind::kIntegers},
    {"nodes_truenodeids", AttributeKind::kIntegers},
    {"post_transform", AttributeKind::kInteger},
    {"tree_roots", AttributeKind::kIntegers}};

}  // namespace

std::span<const OperatorSpec> tree_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"ai.onnx.ml.TreeEnsemble",
       5,
       {},
       {},
       kFloats,
       shape_of_ensemble,
       regression,
       kTreeEnsemble,
       false,
       prepare_ensemble<read_tree_ensemble>},
      {"ai.onnx.ml.TreeEnsembleClassifier",
       1,
       {},
       {1, 2},
       kFeatures,
       shape_of_classifier,
       classifier,
       kClassifier,
       false,
       prepare_classifier},
      {"ai.onnx.ml.TreeEnsembleRegressor",
       1,
       {},
       {},
       kFeatures,
       shape_of_regressor,
       regression,
       kRegressor,
       false,
       prepare_ensemble<read_regressor>},
  };
  return kOperators;
}

}  // namespace millrace::fallback
