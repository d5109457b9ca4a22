// Computations on the class scores of a frame: softmax, calibration, statistics and top-k.
//
// Every function accepts any floats, including infinities and NaN, and any number of them,
// including none. Functions that take a span of non-const floats modify it in place. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace millrace::vision {

struct RankedClass {
  uint32_t index = 0;
  float score = 0;
};

// Returns the `count` best classes, or all if there are fewer, the best first. For equal scores the
// lower index comes first; NaN comes last.
std::vector<RankedClass> top_classes(std::span<const float> scores, uint32_t count);

// Replaces logits by probabilities. The largest logit is subtracted first, so that exp() cannot
// overflow. Logits of plus infinity share the probability; NaN becomes 0. If all logits are minus
// infinity or NaN, all become 0.
void softmax(std::span<float> logits);

// Returns 1 / (1 + exp(-logit)).
float sigmoid(float logit);

// Min-max normalisation: maps the smallest finite score to 0 and the largest to 1, linearly; all
// become 0 if these are equal. Infinite scores become 0 or 1; NaN stays NaN.
void normalise(std::span<float> scores);

// Subtracts bias[i] from scores[i]. Requirement: `bias` is empty or has as many elements as
// `scores`.
void subtract_bias(std::span<float> scores, std::span<const float> bias);

// Platt scaling: replaces each score by sigmoid(a * score + b). With this sign convention a
// positive `a` preserves the order of the classes.
void calibrate_platt(std::span<float> scores, float a, float b);

// Temperature scaling: softmax of logit / temperature. Requirement: temperature > 0.
void calibrate_temperature(std::span<float> logits, float temperature);

// Returns the classes whose score is at least `threshold`, the best first, at most `count`.
std::vector<RankedClass> classes_from(std::span<const float> scores, float threshold,
                                      uint32_t count);

// Returns the classes whose score differs from the mean by more than `deviations` (population)
// standard deviations, the best first, at most `count`. Only finite scores count, and only they can
// be outliers.
std::vector<RankedClass> outliers(std::span<const float> scores, float deviations, uint32_t count);

// Returns the Shannon entropy of the probabilities, in nats: 0 when one class is certain, log(n)
// when all n are equal. Probabilities that are not greater than 0 count as 0.
float entropy(std::span<const float> probabilities);

}  // namespace millrace::vision
