// Decodes the output tensors of YOLO detectors to boxes.
//
// A box has the attributes x, y, width, height, the objectness if the network has one, and a score
// for each class. In pixels of the network's input, with the cell (column, row) and the stride
// between cells:
//   without anchors (YOLOX)  centre = (column + x, row + y) * stride
//                            size   = (exp(width), exp(height)) * stride
//   with anchors (YOLOv2/3)  centre = (column + sigmoid(x), row + sigmoid(y)) * stride
//                            size   = (exp(width), exp(height)) * anchor
// Each box gives at most one detection, for its best class. The score is that of the class times
// the objectness.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "vision/postprocess/boxes.h"
#include "vision/postprocess/cells.h"
#include "vision/postprocess/grids.h"

namespace millrace::vision {

// The function that converts the network's class outputs to scores.
enum class ClassScores : uint8_t {
  kAsGiven,
  kSigmoid,  // each class independently
  kSoftmax,  // over the classes of a box
};

struct YoloOptions {
  GridSet grid_set;
  bool has_objectness = false;
  bool sigmoid_objectness = false;
  ClassScores class_scores = ClassScores::kAsGiven;
  float least_score = 0.5F;  // boxes with a lower score are dropped
};

// Immutable and thread-safe: plan() makes a decoder that any number of threads may use.
class YoloDecoder {
 public:
  // There is one output for each grid, or a single one that lists the boxes of all grids, ordered
  // by grid, then as in for_each_box(). The channels of an output with height and width are the
  // attributes of the first anchor, then those of the second, and so on. kInvalidArgument, with the
  // sizes, when grids and outputs do not match.
  static Result<YoloDecoder> plan(YoloOptions options, std::vector<CellLayout> outputs);

  // Returns the detections of one frame, in the order of the network. `outputs` has the elements of
  // each output.
  std::vector<Detection> decode(std::span<const std::span<const float>> outputs) const;

 private:
  // The location of the boxes of one grid.
  struct Source {
    uint32_t output = 0;
    uint32_t first_cell = 0;  // for an output that lists boxes
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
  std::vector<Source> sources_;  // by grid
  uint32_t attributes_ = 0;      // number of attributes of a box
};

}  // namespace millrace::vision
