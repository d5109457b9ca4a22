// Non-maximum suppression: of detections that overlap too much, only the best stays.
//
// All functions return detections best first; of equal scores, the one that came first in the
// input. Detections whose score is NaN or whose box is not valid are dropped. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vision/postprocess/boxes.h"

namespace millrace::vision {

// Only so many candidates, the best, are compared: the time grows with the square of their number,
// and this many take a fraction of a second. No detector that finds what it was trained for has
// nearly as many above its confidence threshold.
inline constexpr size_t kMostCandidates = 5'000;

// The best kMostCandidates, best first: what the functions below begin with, and all that happens
// where nothing is to be suppressed.
std::vector<Detection> best_candidates(std::vector<Detection> candidates);

// A detection is dropped when its intersection over union with a kept one exceeds `threshold`.
std::vector<Detection> suppress(std::vector<Detection> candidates, float threshold);
// The same among detections of one class; other classes do not count.
std::vector<Detection> suppress_by_class(std::vector<Detection> candidates, float threshold);
// The same by distance_iou instead: boxes apart stay although they overlap.
std::vector<Detection> suppress_by_distance(std::vector<Detection> candidates, float threshold);

// Soft suppression: with each detection taken, the score of the rest falls by the factor
// exp(-iou^2 / sigma), and what falls below `least_score` is dropped. Requirement: sigma > 0.
std::vector<Detection> soften(std::vector<Detection> candidates, float sigma, float least_score);

// How many detections have each class: classes in rising order.
struct ClassCount {
  uint32_t class_id = 0;
  uint32_t count = 0;
};
std::vector<ClassCount> count_by_class(std::span<const Detection> detections);

}  // namespace millrace::vision
