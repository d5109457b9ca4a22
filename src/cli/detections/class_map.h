// Finds what a segmentation network says of each part of its input. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cli/detections/detections.h"

namespace millrace::cli {

// The classes of the cells of a grid that covers the network's input, row by row. 0 is the
// background.
struct ClassMap {
  uint32_t rows = 0;
  uint32_t columns = 0;
  std::vector<uint32_t> classes;
};

// Returns the map that the first output holds: class scores [1,C,H,W] or [1,H,W,C], of which the
// greatest counts; classes as whole numbers, [1,H,W], [1,1,H,W] or [1,H,W,1]; or, in the same
// shapes, how sure the network is of the foreground, from 0 to 1, which is class 1 from
// `least_score` on. Nothing if the network does not segment: then an output does not cover the
// input, is far coarser than it, or may be a picture.
std::optional<ClassMap> class_map_in(std::span<const DetectorOutput> outputs,
                                     const InputSize& input, float least_score);

}  // namespace millrace::cli
