// Support vector machines of ai.onnx.ml: SVMClassifier and SVMRegressor. The classifier has one
// decision function per pair of classes (one against one), as in LIBSVM, and optionally couples
// pairwise probabilities (Wu, Lin and Weng, 2004). Sums are computed in double.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "fallback/families.h"
#include "fallback/ml/class_labels.h"
#include "fallback/ml/post_transform.h"
#include "fallback/ml/rows.h"

namespace millrace::fallback {
namespace {

using Floats = std::vector<float>;

enum class KernelKind : uint8_t { kLinear, kPoly, kRbf, kSigmoid };

// The kernel function of two rows of features.
struct Kernel {
  KernelKind kind = KernelKind::kLinear;
  double gamma = 0, offset = 0, degree = 0;

  double operator()(std::span<const double> a, std::span<const float> b) const {
    double sum = 0;
    for (size_t i = 0; i < b.size(); ++i) {
      const double distance = a[i] - b[i];
      sum += kind == KernelKind::kRbf ? distance * distance : a[i] * b[i];
    }
    switch (kind) {
      case KernelKind::kLinear:
        break;
      case KernelKind::kPoly:
        return std::pow(gamma * sum + offset, degree);
      case KernelKind::kRbf:
        return std::exp(-gamma * sum);
      case KernelKind::kSigmoid:
        return std::tanh(gamma * sum + offset);
    }
    return sum;
  }
};

Result<Kernel> read_kernel(const NodeView& node) {
  constexpr std::array<std::string_view, 4> kNames = {"LINEAR", "POLY", "RBF", "SIGMOID"};
  const std::string name = node.text("kernel_type", "LINEAR");
  const auto entry = std::ranges::find(kNames, name);
  if (entry == kNames.end()) return invalid_argument(fmt::format("unknown kernel_type '{}'", name));
  Kernel kernel{static_cast<KernelKind>(entry - kNames.begin())};
  const Floats* parameters = node.reals("kernel_params");
  if (parameters != nullptr && parameters->size() == 3) {
    kernel.gamma = (*parameters)[0];
    kernel.offset = (*parameters)[1];
    kernel.degree = (*parameters)[2];
  } else if (kernel.kind != KernelKind::kLinear) {
    return invalid_argument("kernel_params must be gamma, coef0 and degree");
  }
  return kernel;
}

Result<const Floats*> floats_of(const NodeView& node, const char* name, size_t count) {
  const Floats* list = node.reals(name);
  if (list != nullptr && list->size() == count) return list;
  return invalid_argument(fmt::format("{} has {} entries; expected {}", name,
                                      list != nullptr ? list->size() : 0, count));
}

// The data that SVMClassifier and SVMRegressor have in common.
struct Machine {
  Kernel kernel;
  PostTransform transform = PostTransform::kNone;
  size_t features = 0;
  size_t vectors = 0;               // 0: the model is linear in the features
  const Floats* support = nullptr;  // [vectors, features]

  std::vector<double> kernels(std::span<const double> row) const {
    std::vector<double> values(vectors);
    for (size_t i = 0; i < vectors; ++i)
      values[i] = kernel(row, std::span(*support).subspan(i * features, features));
    return values;
  }
};

Result<Machine> read_machine(const NodeView& node, size_t vectors, size_t features) {
  Machine machine;
  machine.vectors = vectors;
  machine.features = features;
  MILLRACE_ASSIGN_OR_RETURN(machine.transform,
                            post_transform_of(node.text("post_transform", "NONE")));
  if (vectors == 0) return machine;
  MILLRACE_ASSIGN_OR_RETURN(machine.kernel, read_kernel(node));
  const Floats* support = node.reals("support_vectors");
  const size_t count = support != nullptr ? support->size() : 0;
  if (features == 0 || count % features != 0 || count / features != vectors)
    return invalid_argument(fmt::format(
        "support_vectors has {} entries for {} vectors of {} features", count, vectors, features));
  machine.support = support;
  return machine;
}

struct Regressor {
  Machine machine;
  const Floats* coefficients = nullptr;
  double offset = 0;
  bool is_one_class = false;
};

Result<Regressor> read_regressor(const NodeView& node, size_t features) {
  const int64_t vectors = node.integer("n_supports");
  if (vectors < 0) return invalid_argument("n_supports must not be negative");
  Regressor regressor;
  MILLRACE_ASSIGN_OR_RETURN(regressor.machine,
                            read_machine(node, static_cast<size_t>(vectors), features));
  const size_t terms = vectors == 0 ? features : static_cast<size_t>(vectors);
  MILLRACE_ASSIGN_OR_RETURN(regressor.coefficients, floats_of(node, "coefficients", terms));
  MILLRACE_ASSIGN_OR_RETURN(const Floats* rho, floats_of(node, "rho", 1));
  regressor.offset = (*rho)[0];
  regressor.is_one_class = node.integer("one_class") != 0;
  return regressor;
}

Status shape_of_regressor(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(node.in(0)));
  MILLRACE_RETURN_IF_ERROR(read_regressor(node, rows.features).status());
  node.set(0, DataType::kFloat32, {static_cast<int64_t>(rows.count), 1});
  return {};
}

double product(std::span<const float> coefficients, std::span<const double> terms, double sum) {
  for (size_t i = 0; i < terms.size(); ++i) sum += coefficients[i] * terms[i];
  return sum;
}

// With one class, the result is 1 if the row belongs to it, otherwise -1.
Status regressor(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(call.in(0)));
  MILLRACE_ASSIGN_OR_RETURN(const Regressor regressor, read_regressor(call, rows.features));
  const std::vector<double> x = numbers_of(call.in(0));
  const auto y = call.out(0).as<float>();
  for (size_t row = 0; row < rows.count; ++row) {
    const auto features = std::span(x).subspan(row * rows.features, rows.features);
    double score = regressor.machine.vectors == 0
                       ? product(*regressor.coefficients, features, regressor.offset)
                       : product(*regressor.coefficients, regressor.machine.kernels(features),
                                 regressor.offset);
    if (regressor.is_one_class)
      score = score > 0 ? 1 : -1;
    else
      transform_scores(regressor.machine.transform, std::span(&score, 1));
    y[row] = static_cast<float>(score);
  }
  return {};
}

// With support vectors, each pair of classes has a score, and the class that wins most pairs is
// chosen. Without, each class has a score that is linear in the features.
struct Classifier {
  Machine machine;
  std::vector<int64_t> labels;
  std::vector<size_t> starts;            // the first vector of each class, and the end
  const Floats* coefficients = nullptr;  // [classes - 1, vectors], or [classes, features]
  const Floats* rho = nullptr;
  const Floats *prob_a = nullptr, *prob_b = nullptr;  // null without probabilities

  size_t classes() const { return labels.size(); }
  size_t pairs() const { return classes() * (classes() - 1) / 2; }
  bool votes() const { return machine.vectors != 0; }
  // The number of scores per row in the output.
  size_t scores() const {
    return !votes() || prob_a != nullptr || classes() == 2 ? classes() : pairs();
  }
};

Result<std::vector<size_t>> starts_of(const Dims& vectors_per_class, size_t classes) {
  if (vectors_per_class.size() != classes)
    return invalid_argument("vectors_per_class must have one entry per class");
  std::vector<size_t> starts = {0};
  for (const int64_t count : vectors_per_class) {
    if (count < 0 || count > graph::kMaxElements)
      return invalid_argument(fmt::format("vectors_per_class has {}", count));
    starts.push_back(starts.back() + static_cast<size_t>(count));
  }
  return starts;
}

Status read_pairs(const NodeView& node, Classifier& classifier) {
  const size_t count = (classifier.classes() - 1) * classifier.machine.vectors;
  MILLRACE_ASSIGN_OR_RETURN(classifier.coefficients, floats_of(node, "coefficients", count));
  MILLRACE_ASSIGN_OR_RETURN(classifier.rho, floats_of(node, "rho", classifier.pairs()));
  const Floats* prob_a = node.reals("prob_a");
  if (prob_a == nullptr || prob_a->empty()) return {};
  MILLRACE_ASSIGN_OR_RETURN(classifier.prob_a, floats_of(node, "prob_a", classifier.pairs()));
  MILLRACE_ASSIGN_OR_RETURN(classifier.prob_b, floats_of(node, "prob_b", classifier.pairs()));
  return {};
}

Result<Classifier> read_classifier(const NodeView& node, size_t features) {
  constexpr size_t kMostClasses = size_t{1} << 16;  // the number of pairs stays small
  Classifier classifier;
  MILLRACE_ASSIGN_OR_RETURN(classifier.labels, class_labels_of(node));
  if (classifier.classes() < 2 || classifier.classes() > kMostClasses)
    return invalid_argument("it must have from 2 to 65536 classes");
  const Dims* vectors_per_class = node.integers("vectors_per_class");
  size_t vectors = 0;
  if (vectors_per_class != nullptr && !vectors_per_class->empty()) {
    MILLRACE_ASSIGN_OR_RETURN(classifier.starts,
                              starts_of(*vectors_per_class, classifier.classes()));
    vectors = classifier.starts.back();
  }
  MILLRACE_ASSIGN_OR_RETURN(classifier.machine, read_machine(node, vectors, features));
  if (classifier.votes()) {
    MILLRACE_RETURN_IF_ERROR(read_pairs(node, classifier));
    return classifier;
  }
  MILLRACE_ASSIGN_OR_RETURN(classifier.coefficients,
                            floats_of(node, "coefficients", classifier.classes() * features));
  classifier.rho = node.reals("rho");
  if (classifier.rho == nullptr || classifier.rho->empty())
    return invalid_argument("it has no rho");
  return classifier;
}

Status shape_of_classifier(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(node.in(0)));
  MILLRACE_ASSIGN_OR_RETURN(const Classifier classifier, read_classifier(node, rows.features));
  set_labels_and_scores(node, rows.count, classifier.scores());
  return {};
}

// Returns the score of a pair of classes, i < j: positive if class `i` wins. Each vector has a
// coefficient for each of the other classes.
double pair_score(const Classifier& classifier, std::span<const double> kernels, size_t i,
                  size_t j) {
  const auto share = [&](size_t own, size_t row) {
    const size_t first = classifier.starts[own], count = classifier.starts[own + 1] - first;
    const auto coefficients = std::span(*classifier.coefficients)
                                  .subspan(row * classifier.machine.vectors + first, count);
    return product(coefficients, kernels.subspan(first, count), 0);
  };
  return share(i, j - 1) + share(j, i);
}

// Couples pairwise probabilities r(i, j), of class i against class j, to probabilities of classes:
// the p that minimise the sum of (r(j, i) p(i) - r(i, j) p(j))^2, by the iteration of Wu, Lin and
// Weng (2004). It ends by the criterion of LIBSVM, with which such models are trained.
class PairCoupling {
 public:
  explicit PairCoupling(size_t classes)
      : classes_(classes), pairs_(classes * classes), quadratic_(classes * classes) {}

  void set(size_t i, size_t j, double probability) {
    pairs_[i * classes_ + j] = probability;
    pairs_[j * classes_ + i] = 1 - probability;
  }

  std::vector<double> solve() {
    make_quadratic_form();
    const auto classes = static_cast<double>(classes_);
    std::vector<double> p(classes_, 1 / classes);
    for (size_t step = 0; step < std::max<size_t>(100, classes_); ++step) {
      const std::vector<double> gradient = multiply(p);
      const double level = std::inner_product(p.begin(), p.end(), gradient.begin(), 0.0);
      double error = 0;
      for (const double entry : gradient) error = std::max(error, std::fabs(entry - level));
      if (error < 0.005 / classes) break;
      improve(p, gradient, level);
    }
    return p;
  }

 private:
  double& form(size_t i, size_t j) { return quadratic_[i * classes_ + j]; }

  void make_quadratic_form() {
    for (size_t i = 0; i < classes_; ++i) {
      for (size_t j = 0; j < classes_; ++j) {
        if (i == j) continue;
        const double against = pairs_[j * classes_ + i];
        form(i, i) += against * against;
        form(i, j) = -against * pairs_[i * classes_ + j];
      }
    }
  }

  std::vector<double> multiply(const std::vector<double>& p) {
    std::vector<double> result(classes_, 0);
    for (size_t i = 0; i < classes_; ++i)
      for (size_t j = 0; j < classes_; ++j) result[i] += form(i, j) * p[j];
    return result;
  }

  // Updates one coordinate after another, and normalises p to the sum 1 after each.
  void improve(std::vector<double>& p, std::vector<double> gradient, double level) {
    for (size_t i = 0; i < classes_; ++i) {
      const double step = (level - gradient[i]) / form(i, i), sum = 1 + step;
      p[i] += step;
      level = (level + step * (step * form(i, i) + 2 * gradient[i])) / (sum * sum);
      for (size_t j = 0; j < classes_; ++j) {
        gradient[j] = (gradient[j] + step * form(i, j)) / sum;
        p[j] /= sum;
      }
    }
  }

  size_t classes_;
  std::vector<double> pairs_, quadratic_;
};

std::vector<double> probabilities(const Classifier& classifier,
                                  const std::vector<double>& pair_scores) {
  constexpr double kLeast = 1e-7;  // no pair is certain
  PairCoupling coupling(classifier.classes());
  size_t pair = 0;
  for (size_t i = 0; i < classifier.classes(); ++i) {
    for (size_t j = i + 1; j < classifier.classes(); ++j, ++pair) {
      const double argument =
          -(pair_scores[pair] * (*classifier.prob_a)[pair] + (*classifier.prob_b)[pair]);
      coupling.set(i, j, std::clamp(logistic(argument), kLeast, 1 - kLeast));
    }
  }
  return coupling.solve();
}

// Two classes have one pair. Its score is that of the second class, and its negative that of the
// first.
std::vector<double> both_scores(const Classifier& classifier, double score) {
  std::vector<double> scores = {-score, score};
  transform_scores(classifier.machine.transform, scores);
  return scores;
}

// Returns the index of the chosen class.
size_t vote(const Classifier& classifier, std::span<const double> row,
            std::vector<double>& scores) {
  const std::vector<double> kernels = classifier.machine.kernels(row);
  std::vector<double> pair_scores;
  std::vector<size_t> votes(classifier.classes(), 0);
  for (size_t i = 0; i < classifier.classes(); ++i) {
    for (size_t j = i + 1; j < classifier.classes(); ++j) {
      const double rho = (*classifier.rho)[pair_scores.size()];
      pair_scores.push_back(pair_score(classifier, kernels, i, j) + rho);
      ++votes[pair_scores.back() > 0 ? i : j];
    }
  }
  const bool has_pair_only = classifier.classes() == 2 && classifier.prob_a == nullptr;
  if (has_pair_only) {
    scores = both_scores(classifier, pair_scores[0]);
  } else {
    scores = classifier.prob_a != nullptr ? probabilities(classifier, pair_scores) : pair_scores;
    transform_scores(classifier.machine.transform, scores);
  }
  return static_cast<size_t>(std::ranges::max_element(votes) - votes.begin());
}

size_t choose_linear(const Classifier& classifier, std::span<const double> row,
                     std::vector<double>& scores) {
  scores.resize(classifier.classes());
  for (size_t i = 0; i < scores.size(); ++i)
    scores[i] = product(std::span(*classifier.coefficients).subspan(i * row.size(), row.size()),
                        row, (*classifier.rho)[0]);
  const auto best = std::ranges::max_element(scores) - scores.begin();
  transform_scores(classifier.machine.transform, scores);
  return static_cast<size_t>(best);
}

Status classifier(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(call.in(0)));
  MILLRACE_ASSIGN_OR_RETURN(const Classifier classifier, read_classifier(call, rows.features));
  const std::vector<double> x = numbers_of(call.in(0));
  std::vector<double> scores;
  for (size_t row = 0; row < rows.count; ++row) {
    const auto features = std::span(x).subspan(row * rows.features, rows.features);
    const size_t chosen = classifier.votes() ? vote(classifier, features, scores)
                                             : choose_linear(classifier, features, scores);
    call.out(0).as<int64_t>()[row] = classifier.labels[chosen];
    if (call.output_count() == 1) continue;
    const auto to = call.out(1).as<float>().subspan(row * scores.size(), scores.size());
    std::ranges::transform(scores, to.begin(), [](double s) { return static_cast<float>(s); });
  }
  return {};
}

constexpr AttributeSpec kClassifier[] = {{"classlabels_ints", AttributeKind::kIntegers},
                                         {"classlabels_strings", AttributeKind::kTexts},
                                         {"coefficients", AttributeKind::kFloats},
                                         {"kernel_params", AttributeKind::kFloats},
                                         {"kernel_type", AttributeKind::kText},
                                         {"post_transform", AttributeKind::kText},
                                         {"prob_a", AttributeKind::kFloats},
                                         {"prob_b", AttributeKind::kFloats},
                                         {"rho", AttributeKind::kFloats},
                                         {"support_vectors", AttributeKind::kFloats},
                                         {"vectors_per_class", AttributeKind::kIntegers}};
constexpr AttributeSpec kRegressor[] = {
    {"coefficients", AttributeKind::kFloats}, {"kernel_params", AttributeKind::kFloats},
    {"kernel_type", AttributeKind::kText},    {"n_supports", AttributeKind::kInteger},
    {"one_class", AttributeKind::kInteger},   {"post_transform", AttributeKind::kText},
    {"rho", AttributeKind::kFloats},          {"support_vectors", AttributeKind::kFloats}};

}  // namespace

std::span<const OperatorSpec> svm_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"ai.onnx.ml.SVMClassifier",
       1,
       {},
       {1, 2},
       kFeatures,
       shape_of_classifier,
       classifier,
       kClassifier},
      {"ai.onnx.ml.SVMRegressor", 1, {}, {}, kFeatures, shape_of_regressor, regressor, kRegressor},
  };
  return kOperators;
}

}  // namespace millrace::fallback
