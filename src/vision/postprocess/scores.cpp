#include "vision/postprocess/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace millrace::vision {
namespace {

// Orders classes by decreasing score, then by index. Unlike `>` this is a strict weak ordering even
// with NaNs, which come last.
bool ranks_before(const RankedClass& a, const RankedClass& b) {
  if (std::isnan(a.score) || std::isnan(b.score)) {
    if (std::isnan(a.score) != std::isnan(b.score)) return std::isnan(b.score);
    return a.index < b.index;
  }
  return a.score != b.score ? a.score > b.score : a.index < b.index;
}

std::vector<RankedClass> best_of(std::vector<RankedClass> classes, uint32_t count) {
  const size_t kept = std::min<size_t>(count, classes.size());
  const auto end = classes.begin() + static_cast<ptrdiff_t>(kept);
  std::partial_sort(classes.begin(), end, classes.end(), ranks_before);
  classes.resize(kept);
  return classes;
}

template <class Predicate>
std::vector<RankedClass> best_where(std::span<const float> scores, uint32_t count,
                                    Predicate predicate) {
  std::vector<RankedClass> classes;
  for (uint32_t i = 0; i < scores.size(); ++i)
    if (predicate(scores[i])) classes.push_back({i, scores[i]});
  return best_of(std::move(classes), count);
}

// Returns exp(logit - largest), with 0 for NaN, and 1 also when both are infinite.
float relative_exp(float logit, float largest) {
  if (std::isnan(logit)) return 0;
  return logit == largest ? 1 : std::exp(logit - largest);
}

}  // namespace

std::vector<RankedClass> top_classes(std::span<const float> scores, uint32_t count) {
  return best_where(scores, count, [](float) { return true; });
}

void softmax(std::span<float> logits) {
  float largest = -std::numeric_limits<float>::infinity();
  for (const float logit : logits)
    if (logit > largest) largest = logit;
  if (largest == -std::numeric_limits<float>::infinity()) {
    std::ranges::fill(logits, 0.0F);
    return;
  }
  double sum = 0;
  for (float& logit : logits) sum += logit = relative_exp(logit, largest);
  for (float& logit : logits) logit = static_cast<float>(logit / sum);
}

float sigmoid(float logit) {
  return 1 / (1 + std::exp(-logit));
}

void normalise(std::span<float> scores) {
  float smallest = std::numeric_limits<float>::infinity();
  float largest = -smallest;
  for (const float score : scores) {
    if (!std::isfinite(score)) continue;
    smallest = std::min(smallest, score);
    largest = std::max(largest, score);
  }
  // In double precision, since the range of finite floats exceeds the largest float.
  const double range = smallest < largest ? double{largest} - smallest : 0;
  for (float& score : scores) {
    if (std::isnan(score)) continue;
    if (std::isinf(score))
      score = score > 0 ? 1 : 0;
    else
      score = range > 0 ? static_cast<float>((double{score} - smallest) / range) : 0;
  }
}

void subtract_bias(std::span<float> scores, std::span<const float> bias) {
  for (size_t i = 0; i < bias.size(); ++i) scores[i] -= bias[i];
}

void calibrate_platt(std::span<float> scores, float a, float b) {
  for (float& score : scores) score = sigmoid(a * score + b);
}

void calibrate_temperature(std::span<float> logits, float temperature) {
  for (float& logit : logits) logit /= temperature;
  softmax(logits);
}

std::vector<RankedClass> classes_from(std::span<const float> scores, float threshold,
                                      uint32_t count) {
  return best_where(scores, count, [threshold](float score) { return score >= threshold; });
}

std::vector<RankedClass> outliers(std::span<const float> scores, float deviations, uint32_t count) {
  double sum = 0, squares = 0;
  size_t finite = 0;
  for (const float score : scores) {
    if (!std::isfinite(score)) continue;
    sum += score;
    ++finite;
  }
  if (finite == 0) return {};
  const double mean = sum / static_cast<double>(finite);
  for (const float score : scores)
    if (std::isfinite(score)) squares += (score - mean) * (score - mean);
  const double limit = deviations * std::sqrt(squares / static_cast<double>(finite));
  return best_where(scores, count, [mean, limit](float score) {
    return std::isfinite(score) && std::abs(score - mean) > limit;
  });
}

float entropy(std::span<const float> probabilities) {
  double sum = 0;
  for (const float probability : probabilities)
    if (probability > 0) sum -= probability * std::log(double{probability});
  return static_cast<float>(sum);
}

}  // namespace millrace::vision
