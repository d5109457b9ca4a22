// Decodes the two outputs of SSD (Single Shot MultiBox Detector) networks: box offsets relative to
// prior boxes, and class scores.
//
// The prior boxes are the anchors in the centres of the cells of all grids. With the offsets dx,
// dy, dw, dh of a box and the usual variances 0.1 and 0.2, in pixels of the network's input:
//   centre = prior centre + (0.1 * dx, 0.1 * dy) * prior size
//   size   = prior size * (exp(0.2 * dw), exp(0.2 * dh))
// Class scores are converted by softmax. Class 0 is the background and gives no detection; every
// other class whose score reaches the threshold gives one, so a box may give several detections.
#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "vision/postprocess/boxes.h"
#include "vision/postprocess/cells.h"
#include "vision/postprocess/grids.h"

namespace millrace::vision {

// Immutable and thread-safe: plan() makes a decoder that any number of threads may use.
class SsdDecoder {
 public:
  // Each of the two outputs lists one box per cell; the output with four channels has the offsets.
  // Boxes are ordered by grid, then as in for_each_box(). kInvalidArgument when grids and outputs
  // do not match.
  static Result<SsdDecoder> plan(GridSet grid_set, float least_score,
                                 std::vector<CellLayout> outputs);

  // Returns the detections of one frame whose score is at least `least_score`, in the order of the
  // network. `outputs` has the elements of each output.
  std::vector<Detection> decode(std::span<const std::span<const float>> outputs) const;

 private:
  SsdDecoder() = default;
  Box place_box(size_t box, std::span<const float> offsets) const;

  std::vector<Box> priors_;  // here (x, y) is the centre
  float least_score_ = 0;
  size_t offsets_index_ = 0;  // indices of the two outputs
  size_t scores_index_ = 1;
  CellLayout offsets_;
  CellLayout scores_;
};

}  // namespace millrace::vision
