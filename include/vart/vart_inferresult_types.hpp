// VART-X results: what postprocessing found in a frame.
//
// Units: pixels; confidences as the postprocessing function leaves them, usually 0 to 1.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it; what only one of them has is here too. Defines no macro and no name outside namespace vart.
// C++17 and later.
#ifndef VART_VART_INFERRESULT_TYPES_HPP
#define VART_VART_INFERRESULT_TYPES_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace vart {

enum class TraversalOrder { PREORDER, INORDER, POSTORDER };

enum class InferResultType {
  ROOT,
  CLASSIFICATION,
  DETECTION,
  SEGMENTATION,
  CUSTOM_RESULT_1 = 100,
  CUSTOM_RESULT_2,
  CUSTOM_RESULT_3
};

// How coordinates of the model's input become those of the frame. A value of 0 is not set; the
// first of these that is set counts:
//   1. the six numbers that PreProcess reports of what it did to the frame (PreProcessOpRes):
//      frame_x = (model_x - pad_x) / scale_x + crop_x, and the same with y
//   2. the four sizes: frame_x = model_x * input_frame_width / model_input_width
//   3. the two factors, which older programs set: frame_x = model_x * width_scale_factor
// Without any, coordinates stay those of the model's input.
struct InferResScaleInfo {
  uint32_t input_frame_width = 0;
  uint32_t input_frame_height = 0;
  uint32_t model_input_width = 0;
  uint32_t model_input_height = 0;
  float scale_x = 0;
  float scale_y = 0;
  float crop_x = 0;  // pixels of the frame
  float crop_y = 0;
  float pad_x = 0;  // pixels of the model's input
  float pad_y = 0;
  float width_scale_factor = 0;
  float height_scale_factor = 0;
};

// The head of every result: `result_type` says which of the structures below it is part of, and so
// what a program may static_cast it to. Not to be deleted by the program.
struct InferResultData {
  InferResultType result_type = InferResultType::ROOT;
};

// The best classes of a frame, best first; the three lists have one length.
struct ClassificationResData : InferResultData {
  // Empty strings without a label file; for a class beyond the last line of the file, its index.
  std::vector<std::string> label;
  std::vector<double> confidence;
  std::vector<uint32_t> index;  // of the class
};

// One box; x and y are its upper left corner.
struct DetectionResData : InferResultData {
  int32_t x = 0;
  int32_t y = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  std::string label;
  double confidence = 0;
  std::string obj_track_label;
  int class_id = 0;
};

// One map of classes per segmentation output: width[i] * height[i] class ids, row by row.
struct SegmentationResData : InferResultData {
  size_t numOutputs = 0;
  std::vector<uint32_t> width;
  std::vector<uint32_t> height;
  std::vector<std::vector<uint16_t>> class_map;
};

}  // namespace vart

#endif  // VART_VART_INFERRESULT_TYPES_HPP
