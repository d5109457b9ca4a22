// Makes maps of classes from the class scores of every pixel. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vision/postprocess/cells.h"

namespace millrace::vision {

// A map has 16-bit classes, so no more than this many.
inline constexpr uint32_t kMostMapClasses = 65536;

// The class with the largest score of each cell, the lower one of equals; NaN loses against every
// number. That class is also the most probable one after softmax or sigmoid, since both keep the
// order of the classes. Requirements: at most kMostMapClasses channels, layout.elements() scores.
std::vector<uint16_t> class_map(std::span<const float> scores, const CellLayout& layout);

// The map of a single channel, which says how much a pixel belongs to the one class: 1 if the
// sigmoid of the score is at least 0.5, 0 elsewhere and for NaN. Requirements: one channel,
// layout.elements() scores.
std::vector<uint16_t> binary_map(std::span<const float> scores, const CellLayout& layout);

}  // namespace millrace::vision
