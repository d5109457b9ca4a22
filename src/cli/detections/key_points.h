// Finds the key points in what a detector returns beside its boxes, such as the eyes of a face or
// the joints of a person. Thread-safe.
#pragma once

#include <span>
#include <vector>

#include "cli/detections/detections.h"

namespace millrace::cli {

// In pixels of the network's input.
struct KeyPoint {
  float x = 0;
  float y = 0;
};

using KeyPoints = std::vector<KeyPoint>;

// Returns the key points of each detection, which detections_in() has found in the same outputs.
// They are those of YuNet and of YOLOv8's pose models, of which only points that are probably
// visible; none for other detectors.
std::vector<KeyPoints> key_points_of(std::span<const vision::Detection> detections,
                                     std::span<const DetectorOutput> outputs,
                                     const InputSize& input);

}  // namespace millrace::cli
