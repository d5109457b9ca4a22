// Decodes the grids of YOLO detectors to boxes.
//
// A box has the attributes x, y, width, height, the objectness if the network has one, and a score
// for each class. In pixels of the network's input, with the cell (column, row) and the stride from
// cell to cell:
//   without anchors (YOLOX)  centre = (column + x, row + y) * stride
//                            size   = (exp(width), exp(height)) * stride
//   with anchors (YOLOv2/3)  centre = (column + sigmoid(x), row + sigmoid(y)) * stride
//                            size   = (exp(width), exp(height)) * anchor
// A box counts with its best class only; its score is that of the class times the objectness.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "vision/postprocess/boxes.h"
#include "vision/postprocess/cells.h"
#include "vision/postprocess/grids.h"

namespace millrace::vision {

// The function that turns the network's outputs into scores.
enum class ClassScores : uint8_t {
  kAsGiven,
  kSigmoid,  // each by itself
  kSoftmax,  // over the classes of a box
};

struct YoloOptions {
  GridSet grid_set;
  bool has_objectness = false;
  bool sigmoid_objectness = false;
  ClassScores class_scores = ClassScores::kAsGiven;
  float least_score = 0.5F;  // boxes below it are left out
};

// Planned once, then used for any number of frames, from any number of threads at the same time.
class YoloDecoder {
 public:
  // One output for each grid, or one that lists the boxes of all grids: grid by grid, in each
  // anchor by anchor, then row by row. An output with height and width has the attributes of a
  // cell's anchors one after the other as its channels. kInvalidArgument when grids and outputs do
  // not fit together, with both sizes.
  static Result<YoloDecoder> plan(YoloOptions options, std::vector<CellLayout> outputs);

  // The boxes of one frame, in the order of the network. `outputs` are the elements of each output.
  std::vector<Detection> decode(std::span<const std::span<const float>> outputs) const;

 private:
  // Location of the boxes of one grid.
  struct Source {
    uint32_t output = 0;
    uint32_t first_cell = 0;  // of an output that lists boxes
  };
  struct Attributes;

  YoloDecoder(YoloOptions options, std::vector<CellLayout> outputs, std::vector<Source> sources);
  static Result<std::vector<Source>> plan_sources(const GridSet& set,
                                                  std::span<const CellLayout> outputs,
                                                  uint32_t attributes);
  void decode_grid(size_t index, std::span<const std::span<const float>> outputs,
                   std::vector<Detection>& found) const;
  Detection decode_box(const BoxPlace& place, const Attributes& attributes) const;
  Box place_box(const BoxPlace& place, const Attributes& attributes) const;
  void score_box(const Attributes& attributes, Detection& box) const;

  YoloOptions options_;
  std::vector<CellLayout> outputs_;
  std::vector<Source> sources_;  // of each grid
  uint32_t attributes_ = 0;      // of a box
};

}  // namespace millrace::vision
