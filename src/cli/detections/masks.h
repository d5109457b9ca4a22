// Finds the masks of what an instance segmentation network detects. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cli/detections/detections.h"

namespace millrace::cli {

// The cells of a grid over the network's input that belong to a detection, row by row. All of them
// are within its box.
struct Mask {
  uint32_t rows = 0;
  uint32_t columns = 0;
  std::vector<bool> inside;
};

// Returns the mask of each detection, which detections_in() has found in the same outputs. They are
// those of YOLOv8's segmentation models; none for other detectors.
std::vector<Mask> masks_of(std::span<const vision::Detection> detections,
                           std::span<const DetectorOutput> outputs, const InputSize& input);

}  // namespace millrace::cli
