// Non-maximum suppression (NMS), in the greedy, per-class, distance-IoU and soft variants: of
// detections that overlap too much, only the best is kept.
//
// All functions return detections with the best first; for equal scores the order of the input is
// kept. Detections whose score is NaN or whose box is not valid are dropped. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vision/postprocess/boxes.h"

namespace millrace::vision {

// The number of candidates that are compared; of more, only the best are. The time is quadratic in
// their number, and this many take a fraction of a second. A working detector has far fewer boxes
// above its confidence threshold.
inline constexpr size_t kMostCandidates = 5'000;

// Returns the best kMostCandidates candidates, the best first, without suppression. The functions
// below begin with this step.
std::vector<Detection> best_candidates(std::vector<Detection> candidates);

// Greedy NMS: drops a detection when its IoU with a kept one exceeds `threshold`.
std::vector<Detection> suppress(std::vector<Detection> candidates, float threshold);
// Per-class NMS: like suppress(), but a detection suppresses only others of its own class.
std::vector<Detection> suppress_by_class(std::vector<Detection> candidates, float threshold);
// DIoU-NMS: like suppress(), with the distance-IoU instead of the IoU, which keeps overlapping
// boxes whose centres are far apart.
std::vector<Detection> suppress_by_distance(std::vector<Detection> candidates, float threshold);

// Soft-NMS with a Gaussian penalty: each time a detection is taken, the scores of the remaining
// ones are multiplied by exp(-iou^2 / sigma), and those below `least_score` are dropped.
// Requirement: sigma > 0.
std::vector<Detection> soften(std::vector<Detection> candidates, float sigma, float least_score);

// The number of detections of a class; count_by_class() returns classes in ascending order.
struct ClassCount {
  uint32_t class_id = 0;
  uint32_t count = 0;
};
std::vector<ClassCount> count_by_class(std::span<const Detection> detections);

}  // namespace millrace::vision
