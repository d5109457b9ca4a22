// PostProcessConfig: the keys of a postprocess-config, read and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vartx/json_config.h"
#include "vartx/postprocess/labels.h"
#include "vision/postprocess/grids.h"

namespace millrace::vartx {

// The keys of "model-params": how a detector's outputs are laid out.
struct ModelParams {
  struct GridShape {
    uint32_t rows = 0;
    uint32_t columns = 0;
  };
  std::vector<GridShape> grid_shapes;
  std::vector<vision::Anchor> anchors;
  std::vector<uint32_t> boxes_per_cell;  // of each grid; empty: the anchors evenly divided
  std::string input_layout;              // empty where none is given
  std::vector<std::string> output_layouts;
  bool has_objectness = false;
  bool anchors_in_cells = false;  // instead of pixels of the input
  bool apply_sigmoid = false;
};

struct PostProcessConfig {
  uint32_t top_k = 1;
  Labels labels;
  bool print = false;

  float platt_a = 1;
  float platt_b = 0;
  std::vector<float> bias;
  float temperature = 1;
  float threshold = 4;
  float outlier_threshold = 3;

  float nms_threshold = 0.4F;
  float confidence = 0.5F;
  ModelParams model;
};

// Reads the label file, too. Throws std::invalid_argument, naming key and value, for what has a
// wrong type or is out of range.
PostProcessConfig read_postprocess_config(const JsonConfig& json);

}  // namespace millrace::vartx
