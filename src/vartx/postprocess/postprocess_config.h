// PostProcessConfig: the validated values of the JSON configuration of PostProcess. docs/vart-x.md
// lists the keys.
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

// The values of "model-params", which describe the outputs of a detector.
struct ModelParams {
  struct GridShape {
    uint32_t rows = 0;
    uint32_t columns = 0;
  };
  std::vector<GridShape> grid_shapes;
  std::vector<vision::Anchor> anchors;
  std::vector<uint32_t> boxes_per_cell;  // per grid; empty: the anchors are divided evenly
  std::string input_layout;              // empty if not configured
  std::vector<std::string> output_layouts;
  bool has_objectness = false;
  bool anchors_in_cells = false;  // anchors are in units of grid cells, not of input pixels
  bool apply_sigmoid = false;
};

// The kind of result that a type of postprocessing has; kNone for UNKNOWN and undefined types.
enum class ResultKind : uint8_t { kNone, kClassification, kDetection, kSegmentation };
ResultKind kind_of(::vart::PostProcessType type) noexcept;

struct PostProcessConfig {
  uint32_t top_k = 1;
  Labels labels;
  bool print = false;
  tensor::DataType byte_type = tensor::DataType::kInt8;  // element type of tensors called INT8

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

// Reads the keys that do not depend on the type, those for a function that is registered.
PostProcessConfig read_common_config(const JsonConfig& json);

// Reads the keys that the type uses, and the label file if its results have labels. Other keys may
// be present with any value. Throws std::invalid_argument for an undefined type, and for a value
// that is out of range or has a wrong type; the message then names key and value.
PostProcessConfig read_postprocess_config(::vart::PostProcessType type, const JsonConfig& json);

}  // namespace millrace::vartx
