// Decodes the two outputs of SSD detectors: offsets from prior boxes, and class scores.
//
// The prior boxes are the anchors in the middle of the cells of all grids. With the offsets dx, dy,
// dw, dh of a box and the usual variances, in pixels of the network's input:
//   centre = prior centre + (0.1 * dx, 0.1 * dy) * prior size
//   size   = prior size * (exp(0.2 * dw), exp(0.2 * dh))
// The class scores of a box go through softmax. Class 0 is the background and gives no detection;
// any other class with a sufficient score gives one, so a box may be found as several classes.
#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "vision/postprocess/boxes.h"
#include "vision/postprocess/cells.h"
#include "vision/postprocess/grids.h"

namespace millrace::vision {

// Planned once, then used for any number of frames, from any number of threads at the same time.
class SsdDecoder {
 public:
  // The two outputs list a box per cell; the one with four channels has the offsets.
  // Boxes come grid by grid, in each anchor by anchor, then row by row. kInvalidArgument when grids
  // and outputs do not fit together.
  static Result<SsdDecoder> plan(GridSet grid_set, float least_score,
                                 std::vector<CellLayout> outputs);

  // The boxes of one frame, those whose score is at least `least_score`, in the order of the
  // network. `outputs` are the elements of each output.
  std::vector<Detection> decode(std::span<const std::span<const float>> outputs) const;

 private:
  SsdDecoder() = default;
  Box place_box(size_t box, std::span<const float> offsets) const;

  std::vector<Box> priors_;  // x and y are the centre
  float least_score_ = 0;
  size_t offsets_index_ = 0;  // of the outputs
  size_t scores_index_ = 1;
  CellLayout offsets_;
  CellLayout scores_;
};

}  // namespace millrace::vision
