// Computations on the class scores of a frame: probabilities, calibration, statistics and the
// ranking of classes.
//
// Every function takes any floats, infinities and NaN too, and any number of them, none included.
// Functions that take a span of floats change it in place. Thread-safe.
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

// The `count` best classes, or all where there are fewer, best first; of equal scores the lower
// index first, and NaN after every number.
std::vector<RankedClass> top_classes(std::span<const float> scores, uint32_t count);

// Logits to probabilities, by differences from the largest, so that none overflows. Infinite logits
// share the probability; NaN becomes 0. Without a logit above minus infinity all become 0.
void softmax(std::span<float> logits);

// 1 / (1 + exp(-logit)).
float sigmoid(float logit);

// Linearly to [0, 1] by the smallest and the largest finite score; 0 where these are equal.
// Infinite scores become 0 or 1; NaN stays NaN.
void normalise(std::span<float> scores);

// Subtracts bias[i] from scores[i]. Requirement: as many biases as scores, or none.
void subtract_bias(std::span<float> scores, std::span<const float> bias);

// sigmoid(a * score + b): Platt's calibration, with the sign of `a` such that a positive one keeps
// the order of the classes.
void calibrate_platt(std::span<float> scores, float a, float b);

// softmax(logit / temperature). Requirement: temperature > 0.
void calibrate_temperature(std::span<float> logits, float temperature);

// The classes whose score is at least `threshold`, best first, at most `count`.
std::vector<RankedClass> classes_from(std::span<const float> scores, float threshold,
                                      uint32_t count);

// The classes whose score lies more than `deviations` standard deviations (of the population) from
// the mean, best first, at most `count`. Mean and deviation are those of the finite scores, the
// only ones that can be outliers.
std::vector<RankedClass> outliers(std::span<const float> scores, float deviations, uint32_t count);

// The Shannon entropy of the probabilities, in nats: 0 when one class is certain, log(n) when all n
// are alike. Probabilities that are not above 0 count as 0.
float entropy(std::span<const float> probabilities);

}  // namespace millrace::vision
