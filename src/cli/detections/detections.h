// Finds the boxes in what an object detector returns. How the outputs hold them is recognised by
// the names, shapes and values of the outputs (box_format.h lists the formats). Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/desc.h"
#include "vision/postprocess/boxes.h"

namespace millrace::cli {

// An output of one frame, with its elements as real numbers in the order of the CPU view.
struct DetectorOutput {
  tensor::TensorDesc desc;  // of the CPU view
  std::vector<float> values;
};

// The size of the network's input in pixels.
struct InputSize {
  uint32_t width = 0;
  uint32_t height = 0;
};

// Returns the detections whose score is at least `least_score`, the best first, as boxes in pixels
// of the network's input. Of boxes of one class that overlap, only the best remains. kUnsupported,
// with the shapes of the outputs and the formats that are known, if the outputs have none of these.
Result<std::vector<vision::Detection>> detections_in(std::span<const DetectorOutput> outputs,
                                                     const InputSize& input, float least_score);

}  // namespace millrace::cli
