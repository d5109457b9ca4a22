// Draws what a segmentation network says of the parts of the photo that it was run on. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/detections/class_map.h"
#include "io/pictures/canvas.h"
#include "tensor/desc.h"
#include "vision/preprocess/geometry.h"

namespace millrace::cli {

// A class that the network has found in the photo.
struct PhotoSegment {
  uint32_t object_class = 0;
  std::string label;  // empty: none
  double share = 0;   // of the photo's pixels, 0 to 1
};

// Colours the photo where a class other than 0, the background, is found, and returns all classes
// that are, the most frequent first. Preprocessing, which is that of `fit`, is inverted; what it
// has cut off is not coloured. Labels name classes from 0. Requirement: `input` has the layout
// NCHW.
std::vector<PhotoSegment> draw_segments(const ClassMap& map, const tensor::TensorDesc& input,
                                        const vision::FitOptions& fit,
                                        const std::vector<std::string>& labels, io::Canvas& photo);

}  // namespace millrace::cli
