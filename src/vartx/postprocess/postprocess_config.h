// PostProcessConfig: the keys of a postprocess-config, read and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/data_type.h"
#include "vart/vart_postprocess_types.hpp"
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

// Kind of result that a type of postprocessing makes; UNKNOWN and invalid types make none.
enum class ResultKind : uint8_t { kNone, kClassification, kDetection, kSegmentation };
ResultKind kind_of(::vart::PostProcessType type) noexcept;

struct PostProcessConfig {
  uint32_t top_k = 1;
  Labels labels;
  bool print = false;
  tensor::DataType byte_type = tensor::DataType::kInt8;  // what tensors called INT8 hold

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

// Reads the keys that the type uses, and the label file where results have labels; programs leave
// other keys in the text, whatever their values. Throws std::invalid_argument for a type that makes
// nothing, and, naming key and value, for what is out of range or of another kind.
PostProcessConfig read_postprocess_config(::vart::PostProcessType type, const JsonConfig& json);

}  // namespace millrace::vartx
