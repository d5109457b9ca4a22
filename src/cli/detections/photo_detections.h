// Draws what a detector found on the photo that it was run on. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "cli/detections/detections.h"
#include "cli/inputs/frames.h"
#include "io/pictures/canvas.h"

namespace millrace::cli {

// Pixels of a row of the photo, from column `left` to before `right`.
struct PixelRun {
  uint32_t row = 0;
  uint32_t left = 0;
  uint32_t right = 0;
};

// A detection in pixels of the photo, within its edges.
struct PhotoDetection {
  uint32_t object_class = 0;
  std::string label;  // empty: none
  float score = 0;
  double left = 0, top = 0, right = 0, bottom = 0;
  std::vector<std::pair<double, double>> key_points;  // (x, y)
  std::vector<PixelRun> mask;
};

// Checks that the name of the drawn picture says which format it gets.
Status check_drawing(const std::string& path);

// Opens the photo to be drawn on, which is to be written to `path`. kInvalidArgument unless there
// is one photo, which is a picture file and the model's first input, and the file format of `path`
// can hold it.
Result<io::Canvas> open_photo(const LoadedInputs& inputs, const std::string& path);

// Returns an output of a frame as the elements that it stands for: integers of a quantised output
// become the real numbers that they represent.
DetectorOutput detector_output(const graph::CompiledModel& model, const graph::Boundary& output,
                               std::vector<float> values);

// Finds the detections (detections.h) and maps them to the photo by the inverse of its
// preprocessing, which is that of `fit`. Those outside of the photo, as in the border of a
// letterbox, are left out. Labels name classes from 0. Requirement: `input` has the layout NCHW.
Result<std::vector<PhotoDetection>> detections_on_photo(std::span<const DetectorOutput> outputs,
                                                        const tensor::TensorDesc& input,
                                                        const vision::FitOptions& fit,
                                                        const io::Canvas& photo, float least_score,
                                                        const std::vector<std::string>& labels);

// Colours masks, and draws boxes with labels or class numbers, and scores, and key points as small
// squares. The best comes last, on top of others.
void draw_detections(std::span<const PhotoDetection> detections, io::Canvas& photo);

}  // namespace millrace::cli
