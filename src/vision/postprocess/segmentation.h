// Semantic segmentation: class maps from the class scores of every pixel. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vision/postprocess/cells.h"

namespace millrace::vision {

// The largest number of classes: maps have 16-bit elements.
inline constexpr uint32_t kMostMapClasses = 65536;

// Returns the argmax over the channels of each cell: the class with the largest score, the lower
// one of equal scores; NaN is smaller than every number. Softmax and sigmoid would not change the
// result, since both preserve the order. Requirements: at most kMostMapClasses channels, and
// layout.elements() scores.
std::vector<uint16_t> class_map(std::span<const float> scores, const CellLayout& layout);

// Returns the map of a binary segmentation with a single channel: 1 if the sigmoid of the score is
// at least 0.5, otherwise 0, also for NaN. Requirements: one channel, and layout.elements() scores.
std::vector<uint16_t> binary_map(std::span<const float> scores, const CellLayout& layout);

}  // namespace millrace::vision
