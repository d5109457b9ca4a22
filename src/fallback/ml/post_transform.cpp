#include "fallback/ml/post_transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace millrace::fallback {
namespace {

// In the order of PostTransform.
constexpr std::array<std::string_view, 5> kNames = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                    "PROBIT"};

void softmax(std::span<double> scores, bool keep_zeros) noexcept {
  const auto counts = [&](double score) { return !keep_zeros || score != 0; };
  double highest = -std::numeric_limits<double>::infinity();
  for (const double score : scores)
    if (counts(score)) highest = std::max(highest, score);
  double sum = 0;
  for (double& score : scores) {
    if (!counts(score)) continue;
    score = std::exp(score - highest);
    sum += score;
  }
  if (sum == 0) return;
  for (double& score : scores) score /= sum;
}

double distribution(double x) noexcept {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

// The quantile function of the standard normal distribution, by bisection. The initial bounds
// include every x whose probability a double can distinguish from 0 and 1.
double probit(double probability) noexcept {
  if (!(probability >= 0 && probability <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (probability == 0) return -std::numeric_limits<double>::infinity();
  if (probability == 1) return std::numeric_limits<double>::infinity();
  double low = -40, high = 40;
  for (int i = 0; i < 64; ++i) {
    const double middle = (low + high) / 2;
    (distribution(middle) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

Result<PostTransform> post_transform_of(std::string_view name) {
  const auto entry = std::ranges::find(kNames, name);
  if (entry != kNames.end()) return static_cast<PostTransform>(entry - kNames.begin());
  return invalid_argument(fmt::format("unknown post_transform '{}'", name));
}

double logistic(double score) noexcept {
  return 1 / (1 + std::exp(-score));
}

void transform_scores(PostTransform transform, std::span<double> scores) noexcept {
  switch (transform) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
      return softmax(scores, false);
    case PostTransform::kSoftmaxZero:
      return softmax(scores, true);
    case PostTransform::kLogistic:
      std::ranges::transform(scores, scores.begin(), logistic);
      return;
    case PostTransform::kProbit:
      std::ranges::transform(scores, scores.begin(), probit);
      return;
  }
}

}  // namespace millrace::fallback
